import Backplane
import BackplaneNetwork
import FoundationEssentials

extension WebServiceMethod.Prepared {
    /// Returns the endpoint whose response is decoded, or returned unchanged.
    ///
    /// - Throws: `definition.wrong-model`.
    func endpoint<Response: Decodable & Sendable>(
        of service: WebService, _ type: Response.Type
    ) throws(BackplaneError) -> Endpoint<Response> {
        if type == Data.self { return finished(Endpoint<Data>(method.method, parts.path)) as! Endpoint<Response> }
        if type == String.self { return finished(Endpoint<String>(method.method, parts.path)) as! Endpoint<Response> }
        if type == Nothing.self { return finished(Endpoint<Nothing>(method.method, parts.path)) as! Endpoint<Response> }
        try requireModel(of: service, type)
        var endpoint = finished(Endpoint<Response>(method.method, parts.path))
        let named = method.serializer.flatMap { service.serializers[$0] }
        endpoint.decoder = named ?? (type as? any DecodedResponse.Type)?.decoder
        return endpoint
    }

    /// Returns the endpoint whose response parses itself.
    ///
    /// - Throws: `definition.wrong-model`.
    func endpoint<Response: ParsedResponse>(
        of service: WebService, _ type: Response.Type
    ) throws(BackplaneError) -> Endpoint<Response> {
        var endpoint = finished(Endpoint<Response>(method.method, parts.path))
        if type == HTTPResponse.self { endpoint.validStatuses = nil } else { try requireModel(of: service, type) }
        return endpoint
    }

    /// Returns the endpoint whose response is written to a file.
    func endpoint(to file: String) -> Endpoint<DownloadedFile> {
        finished(Endpoint(method.method, parts.path, to: file))
    }

    /// Returns the endpoint whose response is read by a function.
    func endpoint<Response: Sendable>(
        reading parse: @escaping @Sendable (HTTPResponse) throws -> Response
    ) -> Endpoint<Response> {
        finished(Endpoint(method.method, parts.path, reading: parse))
    }

    private func finished<Response>(_ endpoint: Endpoint<Response>) -> Endpoint<Response> {
        var endpoint = endpoint
        (endpoint.query, endpoint.headers, endpoint.body) = (parts.query, parts.headers, parts.body)
        endpoint.allowsFullURL = method.request.path.isFullURL
        endpoint.options = options
        return endpoint
    }

    private func requireModel<Response>(of service: WebService, _ type: Response.Type) throws(BackplaneError) {
        guard let name = method.model, let model = service.models[name], !model.allows(type) else { return }
        throw BackplaneError(
            .definitionWrongModel,
            "the response was requested as `\(type)`, but the definition names the model `\(name)`; request that, an array of it, or `Data`",
            at: method.selector)
    }
}

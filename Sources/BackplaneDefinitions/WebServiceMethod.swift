public import Backplane
public import BackplaneNetwork
import FoundationEssentials

/// A method of a web service, which is called like a function.
///
/// ```swift
/// let near: [Pharmacy] = try await pharmacies.searchWithZIPCode("1011")
/// let load: EndpointLoad<[Pharmacy]> = try pharmacies.searchWithZIPCode.load("1011")
/// let photo: Data = try await pharmacies.photo.with(headers: ["Accept": "image/png"])(12)
/// ```
///
/// An argument is any encodable value: a string, a number, `Data`, a model, a ``FilePart`` or an array of them, or
/// `nil`, which omits its field. The response has the type that the caller requests: any `Decodable` type or one that
/// parses itself, `Data`, `String`, `Nothing`, or `HTTPResponse` with any status.
public struct WebServiceMethod: Sendable {
    let service: WebService
    /// The name or the selector of the method.
    public let name: String
    private var headers: HTTPHeaders = [:]
    private var credential, account: String?

    init(service: WebService, name: String) { (self.service, self.name) = (service, name) }

    /// Returns the method with header fields that take precedence over the definition's fields.
    public func with(headers: HTTPHeaders) -> WebServiceMethod {
        var method = self
        for name in Set(headers.fields.map(\.name)) { method.headers[name] = nil }
        for field in headers.fields { method.headers.add(field.name, field.value) }
        return method
    }

    /// Returns the method with a credential and its account, which replace the client's defaults.
    public func with(credential: String, account: String? = nil) -> WebServiceMethod {
        var method = self
        (method.credential, method.account) = (credential, account)
        return method
    }

    // MARK: Calls

    /// Calls the method, and returns its decoded or raw response.
    ///
    /// - Parameters:
    ///   - arguments: The arguments, in the order of the definition's indicators.
    ///   - call: The call being served; `nil` outside any call.
    /// - Throws: `definition.unknown-method`, `definition.arguments` and `definition.wrong-model`, before anything is
    ///   sent; the errors of `HTTPClient.load(_:_:progress:)`.
    public func callAsFunction<Response: Decodable & Sendable>(
        _ arguments: (any Encodable & Sendable)?..., call: Call? = nil
    ) async throws(BackplaneError) -> Response {
        let prepared = try prepared(arguments)
        return try await prepared.client.load(prepared.endpoint(Response.self), call ?? Call())
    }

    /// Calls the method, and returns a response that parses itself, such as `HTTPResponse`.
    public func callAsFunction<Response: ParsedResponse>(
        _ arguments: (any Encodable & Sendable)?..., call: Call? = nil
    ) async throws(BackplaneError) -> Response {
        let prepared = try prepared(arguments)
        return try await prepared.client.load(prepared.endpoint(Response.self), call ?? Call())
    }

    /// Calls the method, and returns its decoded or raw response together with its status and header fields.
    ///
    /// - Throws: The errors of other calls.
    public func withResponse<Response: Decodable & Sendable>(
        _ arguments: (any Encodable & Sendable)?..., call: Call? = nil
    ) async throws(BackplaneError) -> (value: Response, response: HTTPResponse) {
        let prepared = try prepared(arguments)
        return try await prepared.client.loadWithResponse(prepared.endpoint(Response.self), call ?? Call())
    }

    /// Starts a call of the method, and returns the load, which can be watched and cancelled.
    ///
    /// - Throws: The errors that a call throws before anything is sent.
    public func load<Response: Decodable & Sendable>(
        _ arguments: (any Encodable & Sendable)?..., call: Call? = nil
    ) throws(BackplaneError) -> EndpointLoad<Response> {
        let prepared = try prepared(arguments)
        return try prepared.endpoint(Response.self).load(on: prepared.client, call ?? Call())
    }

    /// Starts a call of the method whose response parses itself, and returns the load.
    public func load<Response: ParsedResponse>(
        _ arguments: (any Encodable & Sendable)?..., call: Call? = nil
    ) throws(BackplaneError) -> EndpointLoad<Response> {
        let prepared = try prepared(arguments)
        return try prepared.endpoint(Response.self).load(on: prepared.client, call ?? Call())
    }

    /// Calls the method, and writes its response to a file.
    ///
    /// - Parameters:
    ///   - arguments: The arguments, in the order of the definition's indicators.
    ///   - file: The path of the file, inside a component relative to its folder; an existing one is replaced.
    ///   - call: The call being served; `nil` outside any call.
    ///   - progress: A function that is called in order with the progress; it must not block.
    /// - Throws: The errors of other calls; `network.file` if the file cannot be written.
    public func download(
        _ arguments: (any Encodable & Sendable)?..., to file: String, call: Call? = nil,
        progress: (@Sendable (HTTPProgress) -> Void)? = nil
    ) async throws(BackplaneError) -> DownloadedFile {
        let prepared = try prepared(arguments)
        return try await prepared.client.load(prepared.endpoint(to: file), call ?? Call(), progress: progress)
    }

    /// Starts to write the response of a call to a file, and returns the load, which can be watched and cancelled.
    ///
    /// - Throws: The errors that a call throws before anything is sent.
    public func load(
        _ arguments: (any Encodable & Sendable)?..., to file: String, call: Call? = nil
    ) throws(BackplaneError) -> EndpointLoad<DownloadedFile> {
        let prepared = try prepared(arguments)
        return prepared.endpoint(to: file).load(on: prepared.client, call ?? Call())
    }

    /// Returns the endpoint of a call, to modify it or to load its pages with the service's client.
    ///
    /// - Throws: The errors that a call throws before anything is sent.
    public func endpoint<Response: Decodable & Sendable>(
        _ arguments: (any Encodable & Sendable)?..., as type: Response.Type = Response.self
    ) throws(BackplaneError) -> Endpoint<Response> {
        try prepared(arguments).endpoint(type)
    }

    /// Returns the endpoint of a call whose response parses itself.
    public func endpoint<Response: ParsedResponse>(
        _ arguments: (any Encodable & Sendable)?..., as type: Response.Type = Response.self
    ) throws(BackplaneError) -> Endpoint<Response> {
        try prepared(arguments).endpoint(type)
    }

    /// Returns the endpoint of a call whose response is written to a file.
    public func endpoint(
        _ arguments: (any Encodable & Sendable)?..., as type: DownloadedFile.Type = DownloadedFile.self,
        to file: String
    ) throws(BackplaneError) -> Endpoint<DownloadedFile> {
        try prepared(arguments).endpoint(to: file)
    }

    /// Returns the call with arguments.
    ///
    /// - Throws: `definition.unknown-method`, `definition.arguments`.
    func prepared(_ arguments: [(any Encodable & Sendable)?]) throws(BackplaneError) -> PreparedCall {
        let method = try service.definition.method(name, arguments: arguments.count)
        var values: [Argument] = []
        for (index, argument) in arguments.enumerated() { values.append(try Argument(argument, at: index)) }
        var prepared = try PreparedCall(method, values, of: service)
        (prepared.options.credential, prepared.options.account) = (credential, account)
        for field in headers.fields { prepared.headers[field.name] = nil }
        for field in headers.fields {
            guard field.name.isToken, field.value.isFieldValue else {
                throw BackplaneError(
                    .definitionArguments,
                    "a header field of the call has a name that is not a token, or a control character in its value",
                    at: name)
            }
            prepared.headers.add(field.name, field.value.trimmedFieldValue)
        }
        return prepared
    }
}

/// A call of a method before the type of its response is known.
struct PreparedCall {
    private let service: WebService
    private let method: DefinedMethod
    private let path: String
    private let query: [(name: String, value: String)]
    var headers: HTTPHeaders
    private let body: HTTPBody
    var options = HTTPOptions()
    /// The client, without shared header fields if the definition excludes them.
    private(set) var client: HTTPClient

    /// Creates the call of a method with the values of its arguments.
    ///
    /// - Throws: `definition.arguments` for an argument that does not fit its position; `file.refused`.
    init(_ method: DefinedMethod, _ values: [Argument], of service: WebService) throws(BackplaneError) {
        (self.service, self.method, client) = (service, method, service.client)
        if method.request.excludesSharedHeaders { client.defaults.headers = [:] }
        let files = FileArguments(folder: client.way.folder)
        let arguments = Arguments(values: values, method: method, files: files)
        (path, query, headers) = (try arguments.path(), try arguments.query(), try arguments.headers())
        body = try arguments.body()
    }

    /// Returns the endpoint whose response is decoded, or returned unchanged.
    ///
    /// - Throws: `definition.wrong-model`.
    func endpoint<Response: Decodable & Sendable>(
        _ type: Response.Type
    ) throws(BackplaneError) -> Endpoint<Response> {
        if type == Data.self { return finished(Endpoint<Data>(method.method, path)) as! Endpoint<Response> }
        if type == String.self { return finished(Endpoint<String>(method.method, path)) as! Endpoint<Response> }
        if type == Nothing.self { return finished(Endpoint<Nothing>(method.method, path)) as! Endpoint<Response> }
        try requireModel(type)
        var endpoint = finished(Endpoint<Response>(method.method, path))
        let named = method.serializer.flatMap { service.serializers[$0] }
        endpoint.decoder = named ?? (type as? any DecodedResponse.Type)?.decoder
        return endpoint
    }

    /// Returns the endpoint whose response parses itself.
    ///
    /// - Throws: `definition.wrong-model`.
    func endpoint<Response: ParsedResponse>(_ type: Response.Type) throws(BackplaneError) -> Endpoint<Response> {
        var endpoint = finished(Endpoint<Response>(method.method, path))
        if type == HTTPResponse.self { endpoint.validStatuses = nil } else { try requireModel(type) }
        return endpoint
    }

    /// Returns the endpoint whose response is written to a file.
    func endpoint(to file: String) -> Endpoint<DownloadedFile> { finished(Endpoint(method.method, path, to: file)) }

    /// Returns the endpoint whose response is read by a function.
    func endpoint<Response: Sendable>(
        reading parse: @escaping @Sendable (HTTPResponse) throws -> Response
    ) -> Endpoint<Response> {
        finished(Endpoint(method.method, path, reading: parse))
    }

    private func finished<Response>(_ endpoint: Endpoint<Response>) -> Endpoint<Response> {
        var endpoint = endpoint
        (endpoint.query, endpoint.headers, endpoint.body) = (query, headers, body)
        endpoint.allowsFullURL = method.request.path.isFullURL
        endpoint.options = options
        return endpoint
    }

    private func requireModel<Response>(_ type: Response.Type) throws(BackplaneError) {
        func allows<Model: Decodable & Sendable>(_ model: Model.Type) -> Bool {
            type == model || type == [Model].self || type == [String: Model].self
        }
        guard let name = method.model, let model = service.models[name], !allows(model) else { return }
        throw BackplaneError(
            .definitionWrongModel,
            "the response was requested as `\(type)`, but the definition names the model `\(name)`; request that, an array of it, or `Data`",
            at: method.selector)
    }
}

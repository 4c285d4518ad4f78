import Backplane
public import BackplaneNetwork

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

    init(service: WebService, name: String) { (self.service, self.name) = (service, name) }

    /// Returns the method with header fields that take precedence over those of the definition.
    public func with(headers: HTTPHeaders) -> WebServiceMethod {
        var method = self
        for name in Set(headers.fields.map(\.name)) { method.headers[name] = nil }
        for field in headers.fields { method.headers.add(field.name, field.value) }
        return method
    }

    /// A call of the method before the type of its response is known.
    struct Prepared {
        let method: DefinedMethod
        var parts: RequestParts
        /// The client, without shared header fields if the definition excludes them.
        let client: HTTPClient
        /// The options of the exchange.
        let options: HTTPOptions

        /// Creates the call of a method with the values of its arguments.
        ///
        /// - Throws: `definition.arguments` for an argument that does not fit its position; `file.refused`.
        init(_ method: DefinedMethod, _ values: [ArgumentValue], of service: WebService) throws(BackplaneError) {
            var client = service.client
            let files = FileArguments(folder: client.way.folder)
            parts = try RequestParts(
                method, MethodArguments(values: values, method: method.selector, files: files))
            if method.request.excludesSharedHeaders { client.defaults.headers = [:] }
            (self.method, self.client, options) = (method, client, service.options)
        }
    }

    /// Returns the call with arguments.
    ///
    /// - Throws: `definition.unknown-method`, `definition.arguments`.
    func prepared(_ arguments: [(any Encodable & Sendable)?]) throws(BackplaneError) -> Prepared {
        let method = try service.definition.method(name, arguments: arguments.count)
        var values: [ArgumentValue] = []
        values.reserveCapacity(arguments.count)
        for (index, argument) in arguments.enumerated() {
            values.append(try ArgumentEncoder.value(of: argument, at: index))
        }
        var prepared = try Prepared(method, values, of: service)
        try override(&prepared.parts.headers)
        return prepared
    }

    /// Replaces header fields with those of the call.
    private func override(_ headers: inout HTTPHeaders) throws(BackplaneError) {
        for field in self.headers.fields { headers[field.name] = nil }
        for field in self.headers.fields {
            guard field.name.isToken, field.value.isFieldValue else {
                throw BackplaneError(
                    .definitionArguments,
                    "a header field of the call has a name that is not a token, or a control character in its value",
                    at: name)
            }
            headers.add(field.name, field.value.trimmedFieldValue)
        }
    }
}

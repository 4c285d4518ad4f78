#if Engines
public import Backplane
public import BackplaneNetwork
public import HTTPTypes

extension HTTPTypes.HTTPFields {
    /// Creates the fields of swift-http-types, in the same order.
    ///
    /// - Throws: `network.refused` for a name that is not a token (RFC 9110, section 5.6.2).
    public init(_ headers: HTTPHeaders) throws(BackplaneError) {
        self.init()
        for field in headers.fields {
            guard let name = HTTPField.Name(field.name) else {
                throw BackplaneError(
                    .networkRefused, "the name of a header field contains characters that are not allowed")
            }
            append(HTTPField(name: name, value: field.value))
        }
    }
}

extension HTTPHeaders {
    /// Creates header fields from those of swift-http-types, in the same order.
    public init(_ fields: HTTPTypes.HTTPFields) {
        self = [:]
        for field in fields { add(field.name.rawName, field.value) }
    }
}

extension HTTPTypes.HTTPRequest {
    /// Creates the head of a request of swift-http-types.
    ///
    /// - Throws: `network.refused` for a method or a field name that is not a token, or a URL without a host.
    public init(_ request: BackplaneNetwork.HTTPRequest) throws(BackplaneError) {
        guard let method = Method(request.method), let address = WebURL(request.url), address.host?.isEmpty == false
        else {
            throw BackplaneError(
                .networkRefused, "expected a request with a method, a host and a path", at: request.printableURL)
        }
        self.init(
            method: method, scheme: request.scheme, authority: address.authority, path: address.target,
            headerFields: try HTTPTypes.HTTPFields(request.headers))
    }
}

extension BackplaneNetwork.HTTPRequest {
    /// Creates a request from a head of swift-http-types.
    ///
    /// - Returns: `nil` if the head has no scheme, authority or path, as in a `CONNECT` request.
    public init?(_ head: HTTPTypes.HTTPRequest, body: HTTPBody = .none) {
        guard let scheme = head.scheme, let authority = head.authority, let path = head.path else { return nil }
        self.init(
            head.method.rawValue, "\(scheme)://\(authority)\(path)", headers: HTTPHeaders(head.headerFields), body: body
        )
    }
}

extension HTTPTypes.HTTPResponse {
    /// Creates the head of a response of swift-http-types.
    ///
    /// - Throws: `network.refused` for a field name that is not a token.
    public init(_ response: BackplaneNetwork.HTTPResponse) throws(BackplaneError) {
        self.init(status: Status(code: response.status), headerFields: try HTTPTypes.HTTPFields(response.headers))
    }
}

extension BackplaneNetwork.HTTPResponse {
    /// Creates a response from a head of swift-http-types.
    public init(_ head: HTTPTypes.HTTPResponse, body: [UInt8] = []) {
        self.init(status: head.status.code, headers: HTTPHeaders(head.headerFields), body: body)
    }
}
#endif

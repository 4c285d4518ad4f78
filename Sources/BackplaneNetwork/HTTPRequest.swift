/// An HTTP request with its complete body.
public struct HTTPRequest: Sendable, Hashable {
    /// The method, which may be any token: `GET`, `POST`.
    public var method: String
    /// The URL: absolute, or `file:` with a path relative to the manifest's folder.
    public var url: String
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body; empty for a request without one.
    public var body: [UInt8]

    /// Creates a request, by default a `GET` without header fields and body.
    public init(_ method: String = "GET", _ url: String, headers: HTTPHeaders = [:], body: [UInt8] = []) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
    }

    /// The part of the URL before its first colon, in lower case; empty if there is no colon.
    public var scheme: String {
        url.firstIndex(of: ":").map { url[..<$0].lowercased() } ?? ""
    }
}

/// An HTTP response with its complete body.
public struct HTTPResponse: Sendable, Hashable {
    /// The status code, from 100 to 599.
    public var status: Int
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body; empty for a response without one.
    public var body: [UInt8]

    /// Creates a response, by default without header fields and body.
    public init(status: Int, headers: HTTPHeaders = [:], body: [UInt8] = []) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }
}

/// The method, URL, header fields and body of a message to a server.
public struct HTTPRequest: Sendable {
    /// The method, which may be any token: `GET`, `POST`.
    public var method: String
    /// The URL: absolute, or `file:` with a path relative to the manifest's folder.
    public var url: String
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body; ``HTTPBody/none`` for a request without one.
    public var body: HTTPBody

    /// Creates a request, by default a `GET` without header fields and body.
    public init(_ method: String = "GET", _ url: String, headers: HTTPHeaders = [:], body: HTTPBody = .none) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
    }

    /// Creates a request whose body is in memory; without bytes, it has no body.
    public init(_ method: String, _ url: String, headers: HTTPHeaders = [:], body: [UInt8]) {
        self.init(method, url, headers: headers, body: .bytes(body))
    }

    /// The part of the URL before its first colon, in lower case; empty if there is no colon.
    public var scheme: String {
        url.utf8.firstIndex(of: UInt8(ascii: ":")).map { url[..<$0].lowercased() } ?? ""
    }
}

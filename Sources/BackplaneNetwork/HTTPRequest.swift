/// A request with its whole body.
public struct HTTPRequest: Sendable, Hashable {
    /// Any token, as written: `GET`, `POST`.
    public var method: String
    /// Absolute, or `file:` with a path relative to the manifest's folder.
    public var url: String
    public var headers: HTTPHeaders
    public var body: [UInt8]

    public init(_ method: String = "GET", _ url: String, headers: HTTPHeaders = [:], body: [UInt8] = []) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
    }

    /// What the URL says before its first colon, in lower case; empty without one.
    public var scheme: String {
        url.firstIndex(of: ":").map { url[..<$0].lowercased() } ?? ""
    }
}

/// A response with its whole body.
public struct HTTPResponse: Sendable, Hashable {
    /// 100 to 599.
    public var status: Int
    public var headers: HTTPHeaders
    public var body: [UInt8]

    public init(status: Int, headers: HTTPHeaders = [:], body: [UInt8] = []) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }
}

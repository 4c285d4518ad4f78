import Backplane
public import BackplaneNetwork
import FoundationEssentials

/// A request that a server has received completely and matched to a route.
public struct RouteRequest: Sendable {
    /// The name of the route: its method and pattern, such as `GET /books/:id`.
    public var route: String
    /// The request method; `HEAD` for a route of the method `GET` whose answer is sent without its body.
    public var method: String
    /// The path as it was sent, such as `/books/moby%20dick`.
    public var path: String
    /// The query as it was sent, without the question mark; `nil` if there is none.
    public var query: String?
    /// The header fields.
    public var headers: HTTPHeaders
    /// The decoded values of the pattern's parameters, by name.
    public var parameters: [String: String]
    /// The body, if it has at most 1 MB; `nil` if there is none or it is in ``file``.
    public var body: [UInt8]?
    /// The absolute path of the file that is the body, which exists until the answer ends; `nil` for any other body.
    public var file: String?
    /// The address and the port of the client, such as `127.0.0.1:50312`; `nil` if they are unknown.
    public var remoteAddress: String?
    /// A Boolean value that indicates whether the request continues a stream of events that other code began.
    public var isResumed = false
    /// The identity that an interceptor has verified; `nil` in a request as the server sends it.
    public var user: String?

    /// Creates a request as a server passes it on, for tests of handlers.
    ///
    /// - Parameters:
    ///   - route: The name of the route, such as `GET /books/:id`.
    ///   - method: The request method. Default: the method of the route.
    ///   - path: The path as it was sent. Default: the pattern of the route.
    ///   - query: The query as it was sent.
    ///   - headers: The header fields.
    ///   - parameters: The decoded values of the pattern's parameters.
    ///   - body: The body in memory.
    ///   - file: The absolute path of the file that is the body.
    ///   - remoteAddress: The address and the port of the client.
    public init(
        _ route: String, method: String? = nil, path: String? = nil, query: String? = nil, headers: HTTPHeaders = [:],
        parameters: [String: String] = [:], body: [UInt8]? = nil, file: String? = nil, remoteAddress: String? = nil
    ) {
        let words = route.split(separator: " ", maxSplits: 1)
        self.route = route
        self.method = method ?? words.first.map { String($0) } ?? ""
        self.path = path ?? words.dropFirst().first.map { String($0) } ?? "/"
        (self.query, self.headers, self.parameters) = (query, headers, parameters)
        (self.body, self.file, self.remoteAddress) = (body, file, remoteAddress)
    }

    /// The body as a stream, for bodies that may be long.
    ///
    /// - Throws: `network.body` if the file of the body cannot be read.
    public var bodyStream: HTTPBodyStream {
        get throws { try (file.map { HTTPBody.file($0) } ?? .bytes(body ?? [])).open() }
    }
}

// By hand, since synthesised keys would add conformances to every plugin (``TextKey``); bytes are Base64.

extension RouteRequest: Codable {
    /// Decodes a request from an object with its properties, apart from the user.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        route = try values.decode(String.self, forKey: .route)
        method = try values.decode(String.self, forKey: .method)
        path = try values.decode(String.self, forKey: .path)
        query = try values.decodeIfPresent(String.self, forKey: .query)
        headers = try values.decodeIfPresent(HTTPHeaders.self, forKey: .headers) ?? [:]
        parameters = try values.decodeIfPresent([String: String].self, forKey: .parameters) ?? [:]
        body = try values.decodeIfPresent(Data.self, forKey: .body).map { Array($0) }
        file = try values.decodeIfPresent(String.self, forKey: .file)
        remoteAddress = try values.decodeIfPresent(String.self, forKey: .remoteAddress)
        isResumed = try values.decodeIfPresent(Bool.self, forKey: .isResumed) ?? false
    }

    /// Encodes a request as an object with its properties, apart from the user.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(route, forKey: .route)
        try values.encode(method, forKey: .method)
        try values.encode(path, forKey: .path)
        try values.encodeIfPresent(query, forKey: .query)
        try values.encode(headers, forKey: .headers)
        try values.encode(parameters, forKey: .parameters)
        try values.encodeIfPresent(body.map { Data($0) }, forKey: .body)
        try values.encodeIfPresent(file, forKey: .file)
        try values.encodeIfPresent(remoteAddress, forKey: .remoteAddress)
        try values.encode(isResumed, forKey: .isResumed)
    }
}

extension TextKey {
    static let method = TextKey("method")
    static let path = TextKey("path")
    static let headers = TextKey("headers")
    static let body = TextKey("body")
    static let file = TextKey("file")
    fileprivate static let route = TextKey("route")
    fileprivate static let query = TextKey("query")
    fileprivate static let parameters = TextKey("parameters")
    fileprivate static let remoteAddress = TextKey("remoteAddress")
    fileprivate static let isResumed = TextKey("isResumed")
}

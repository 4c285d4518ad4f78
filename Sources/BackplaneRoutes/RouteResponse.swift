import Backplane
public import BackplaneNetwork
public import FoundationEssentials

/// A whole answer: a status, header fields, and bytes or a file.
///
/// ```swift
/// try .json(book, status: 201)
/// .file(try me.resources.path("cover.png"))
/// .redirect(to: "/books/7")
/// ```
public struct RouteResponse: Sendable {
    /// The status code, from 200 to 599.
    public var status: Int
    /// The header fields; the server adds the fields that frame the message, such as `Content-Length`.
    public var headers: HTTPHeaders
    /// The body, unless it is in ``file``.
    public var body: [UInt8]
    /// The absolute path of the file that the server sends as the body; `nil` for any other body.
    ///
    /// With the status 200, the server evaluates the request's conditions and ranges, and adds missing `ETag` and
    /// `Last-Modified` fields.
    public var file: String?

    /// Creates an answer with a body in memory.
    public init(status: Int = 200, headers: HTTPHeaders = [:], body: [UInt8] = []) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }
}

/// Answers of common types.
extension RouteResponse {
    /// Returns a value as JSON.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - status: The status code.
    ///   - encoder: The encoder. By default, dates are in ISO 8601, and keys are unchanged.
    /// - Throws: The encoder's error.
    public static func json(
        _ value: some Encodable, status: Int = 200, encoder: JSONEncoder? = nil
    ) throws -> RouteResponse {
        let body = try (encoder ?? RouteJSON.encoder).encode(value).withUnsafeBytes { Array($0) }
        return RouteResponse(status: status, headers: ["Content-Type": "application/json"], body: body)
    }

    /// Returns plain text in UTF-8.
    public static func text(_ text: String, status: Int = 200) -> RouteResponse {
        RouteResponse(
            status: status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: Array(text.utf8))
    }

    /// Returns a page of HTML in UTF-8.
    public static func html(_ text: String, status: Int = 200) -> RouteResponse {
        RouteResponse(status: status, headers: ["Content-Type": "text/html; charset=utf-8"], body: Array(text.utf8))
    }

    /// Returns a file, which the server reads while it is sent, even after the plugin has been replaced.
    ///
    /// - Parameters:
    ///   - path: The absolute path of the file.
    ///   - type: The media type. Default: the type of the file name's extension, if it is a common one.
    public static func file(_ path: String, type: String? = nil) -> RouteResponse {
        var response = RouteResponse(headers: ["Content-Type": type ?? mediaType(of: path)])
        response.file = path
        return response
    }

    /// Returns an answer that sends the client to another address.
    ///
    /// - Parameters:
    ///   - location: The URL or path to go to.
    ///   - status: The status code. Default: 303, after which clients send a `GET`.
    public static func redirect(to location: String, status: Int = 303) -> RouteResponse {
        RouteResponse(status: status, headers: ["Location": location])
    }

    /// Returns an answer without a body.
    public static func empty(_ status: Int = 204) -> RouteResponse { RouteResponse(status: status) }

    private static func mediaType(of path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        let type = name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
        return mediaTypes.first { $0.suffix == type }?.type ?? "application/octet-stream"
    }

    private static let mediaTypes: [(suffix: String, type: String)] = [
        ("html", "text/html; charset=utf-8"), ("css", "text/css; charset=utf-8"),
        ("js", "text/javascript; charset=utf-8"), ("txt", "text/plain; charset=utf-8"),
        ("md", "text/markdown; charset=utf-8"), ("csv", "text/csv; charset=utf-8"), ("json", "application/json"),
        ("xml", "application/xml"), ("svg", "image/svg+xml"), ("png", "image/png"), ("jpg", "image/jpeg"),
        ("jpeg", "image/jpeg"), ("gif", "image/gif"), ("webp", "image/webp"), ("ico", "image/x-icon"),
        ("woff2", "font/woff2"), ("wasm", "application/wasm"), ("pdf", "application/pdf"),
        ("epub", "application/epub+zip"), ("zip", "application/zip"), ("mp3", "audio/mpeg"), ("mp4", "video/mp4"),
    ]
}

extension RouteResponse {
    /// The sites whose pages may send a cookie with their requests (RFC 6265bis, section 4.1.2.7).
    public enum SameSite: String, Sendable {
        /// The site itself only.
        case strict = "Strict"
        /// The site itself, and other sites that link to it.
        case lax = "Lax"
        /// All sites; browsers require a secure cookie.
        case none = "None"
    }

    /// Adds a cookie, which is hidden from scripts and from requests of other sites unless specified otherwise.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value, which is percent-encoded.
    ///   - path: The path with which the cookie is sent.
    ///   - maxAge: The time until the browser deletes the cookie; zero deletes it now, and `nil` at the end of the
    ///     browser's session.
    ///   - isSecure: A Boolean value that indicates whether the cookie is sent by HTTPS only.
    ///   - isHTTPOnly: A Boolean value that indicates whether scripts cannot read the cookie.
    ///   - sameSite: The sites whose pages may send the cookie.
    public mutating func setCookie(
        _ name: String, _ value: String, path: String = "/", maxAge: Duration? = nil, isSecure: Bool = false,
        isHTTPOnly: Bool = true, sameSite: SameSite = .lax
    ) {
        var text = "\(name.percentEncodedValue)=\(value.percentEncodedValue); Path=\(path)"
        if let maxAge { text += "; Max-Age=\(maxAge.components.seconds)" }
        if isSecure { text += "; Secure" }
        if isHTTPOnly { text += "; HttpOnly" }
        headers.add("Set-Cookie", text + "; SameSite=\(sameSite.rawValue)")
    }
}

extension RouteResponse: Codable {
    /// Decodes an answer from an object with its properties; only the status is required.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        status = try values.decode(Int.self, forKey: .status)
        headers = try values.decodeIfPresent(HTTPHeaders.self, forKey: .headers) ?? [:]
        body = try values.decodeIfPresent(Data.self, forKey: .body).map { Array($0) } ?? []
        file = try values.decodeIfPresent(String.self, forKey: .file)
    }

    /// Encodes an answer as an object with its properties.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(status, forKey: .status)
        try values.encode(headers, forKey: .headers)
        if !body.isEmpty { try values.encode(Data(body), forKey: .body) }
        try values.encodeIfPresent(file, forKey: .file)
    }
}

extension TextKey {
    static let status = TextKey("status")
}

import Backplane
public import FoundationEssentials

extension Endpoint where Response: Decodable {
    /// Creates an endpoint whose response is decoded, or the body itself as `String`, `[UInt8]` or `Data`.
    ///
    /// Bytes of text that are not UTF-8 are replaced. For `Nothing`, only the status of the response matters.
    public init(
        _ method: String, _ path: some EndpointPath, query: KeyValuePairs<String, String?> = [:],
        headers: HTTPHeaders = [:], body: HTTPBody = .none
    ) {
        self.init(method, path, query, headers, body, .ofBody)
    }
}

extension Endpoint.Receipt where Response: Decodable {
    fileprivate static var ofBody: Self {
        .decoded { response, decoder in
            let body = response.body, raw: any Sendable
            if Response.self == String.self {
                raw = String(decoding: body, as: UTF8.self)
            } else if Response.self == [UInt8].self {
                raw = body
            } else if Response.self == Data.self {
                raw = Data(body)
            } else if Response.self == Nothing.self {
                raw = Nothing()
            } else {
                guard !body.isEmpty else { throw BackplaneError.responseEmpty }
                return try decoder.decode(Response.self, from: Data(body))
            }
            return raw as! Response
        }
    }
}

extension Endpoint where Response: ParsedResponse {
    /// Creates an endpoint whose response parses itself.
    public init(
        _ method: String, _ path: some EndpointPath, query: KeyValuePairs<String, String?> = [:],
        headers: HTTPHeaders = [:], body: HTTPBody = .none
    ) {
        self.init(method, path, query, headers, body, .parsed { response, _ in try Response.parse(response) })
    }
}

extension Endpoint where Response: ParsedResponse & Decodable {
    /// Creates an endpoint whose response parses itself, although it could be decoded.
    public init(
        _ method: String, _ path: some EndpointPath, query: KeyValuePairs<String, String?> = [:],
        headers: HTTPHeaders = [:], body: HTTPBody = .none
    ) {
        self.init(method, path, query, headers, body, .parsed { response, _ in try Response.parse(response) })
    }
}

extension Endpoint {
    /// Creates an endpoint whose response is read by a function; the load fails with `network.unparsable` if it throws.
    package init(
        _ method: String, _ path: some EndpointPath,
        reading parse: @escaping @Sendable (HTTPResponse) throws -> Response
    ) {
        self.init(method, path, [:], [:], .none, .parsed { response, _ in try parse(response) })
    }
}

extension Endpoint where Response == DownloadedFile {
    /// Creates an endpoint whose response is written to a file.
    ///
    /// - Parameters:
    ///   - method: The method, such as `GET`.
    ///   - path: The path, relative to the client's base URL: text, or an array of segments.
    ///   - file: The path of the file, inside a component relative to its folder. An existing file is replaced once the
    ///     response has been loaded and validated.
    ///   - query: The fields of the query; fields without a value are omitted.
    ///   - headers: The header fields.
    ///   - body: The body.
    public init(
        _ method: String, _ path: some EndpointPath, to file: String, query: KeyValuePairs<String, String?> = [:],
        headers: HTTPHeaders = [:], body: HTTPBody = .none
    ) {
        self.init(method, path, query, headers, body, .file(path: file) { $0 })
    }
}

/// A file that a load has written.
public struct DownloadedFile: Sendable {
    /// The path: inside a component, the absolute path; otherwise, the path that was specified.
    public let path: String
    /// The number of bytes.
    public let size: Int64
}

/// A decoder of response bodies: `JSONDecoder` or a custom decoder.
public protocol ResponseDecoder: Sendable {
    /// Decodes a value from a whole body.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: ResponseDecoder {
    /// The decoder for clients and endpoints without one, which is never modified.
    static let unchanged = JSONDecoder()
}

/// A response type that chooses its decoder, regardless of the client's.
///
/// Arrays of it also use that decoder. The decoder of an endpoint takes precedence.
public protocol DecodedResponse: Decodable, Sendable {
    /// The decoder for the format in which servers send this type.
    static var decoder: any ResponseDecoder { get }
}

extension Array: DecodedResponse where Element: DecodedResponse {
    /// The decoder of the elements.
    public static var decoder: any ResponseDecoder { Element.decoder }
}

/// A type that reads its values from whole responses itself, without a decoder.
///
/// ```swift
/// struct Quota: ParsedResponse {
///     var left: Int
///     static func parse(_ response: HTTPResponse) throws -> Quota {
///         Quota(left: response.headers["X-Left"].flatMap { Int($0) } ?? 0)
///     }
/// }
/// ```
public protocol ParsedResponse: Sendable {
    /// Returns the value of a response whose status is valid.
    static func parse(_ response: HTTPResponse) throws -> Self
}

extension HTTPResponse: ParsedResponse {
    /// Returns the response itself, for an endpoint with an unparsed response.
    public static func parse(_ response: HTTPResponse) -> HTTPResponse { response }
}

public import Backplane
public import FoundationEssentials

extension Endpoint where Response: Decodable {
    /// Creates an endpoint whose response is decoded.
    ///
    /// - Parameters:
    ///   - method: The method, such as `GET`.
    ///   - path: The path, relative to the client's base URL: text, or an array of segments.
    ///   - query: The fields of the query; those without a value are omitted.
    ///   - headers: The header fields.
    ///   - body: The body.
    public init(
        _ method: String, _ path: some EndpointPath, query: KeyValuePairs<String, String?> = [:],
        headers: HTTPHeaders = [:],
        body: HTTPBody = .none
    ) {
        self.init(method, path, query, headers, body, .decoded)
    }
}

extension Endpoint where Response: DecodedResponse {
    /// Creates an endpoint whose response is decoded by the decoder that its type chooses.
    public init(
        _ method: String, _ path: some EndpointPath, query: KeyValuePairs<String, String?> = [:],
        headers: HTTPHeaders = [:],
        body: HTTPBody = .none
    ) {
        self.init(method, path, query, headers, body, .decoded, typeDecoder: Response.decoder)
    }
}

extension Endpoint.Receipt where Response: Decodable {
    fileprivate static var decoded: Self {
        .parsed { response, decoder in
            guard !response.body.isEmpty else { throw BackplaneError.responseEmpty }
            return try decoder.decode(Response.self, from: Data(response.body))
        }
    }
}

extension Endpoint where Response: ParsedResponse {
    /// Creates an endpoint whose response parses itself.
    public init(
        _ method: String, _ path: some EndpointPath, query: KeyValuePairs<String, String?> = [:],
        headers: HTTPHeaders = [:],
        body: HTTPBody = .none
    ) {
        self.init(method, path, query, headers, body, .parsed { response, _ in try Response.parse(response) })
    }
}

extension Endpoint where Response: ParsedResponse & Decodable {
    /// Creates an endpoint whose response parses itself, although it could be decoded.
    public init(
        _ method: String, _ path: some EndpointPath, query: KeyValuePairs<String, String?> = [:],
        headers: HTTPHeaders = [:],
        body: HTTPBody = .none
    ) {
        self.init(method, path, query, headers, body, .parsed { response, _ in try Response.parse(response) })
    }
}

extension Endpoint where Response: ParsedResponse & DecodedResponse {
    /// Creates an endpoint whose response parses itself, although its type chooses a decoder.
    public init(
        _ method: String, _ path: some EndpointPath, query: KeyValuePairs<String, String?> = [:],
        headers: HTTPHeaders = [:],
        body: HTTPBody = .none
    ) {
        self.init(method, path, query, headers, body, .parsed { response, _ in try Response.parse(response) })
    }
}

extension Endpoint {
    /// Creates an endpoint whose response is read by a function.
    ///
    /// - Parameters:
    ///   - method: The method, such as `GET`.
    ///   - path: The path, relative to the client's base URL: text, or an array of segments.
    ///   - parse: A function that returns the value of a response whose status is valid; if it throws an error, the
    ///     load fails with `network.unparsable`.
    package init(
        _ method: String, _ path: some EndpointPath,
        reading parse: @escaping @Sendable (HTTPResponse) throws -> Response
    ) {
        self.init(method, path, [:], [:], .none, .parsed { response, _ in try parse(response) })
    }
}

extension Endpoint where Response == String {
    /// Creates an endpoint whose response is text in UTF-8; other bytes are replaced.
    public init(
        _ method: String, _ path: some EndpointPath, query: KeyValuePairs<String, String?> = [:],
        headers: HTTPHeaders = [:],
        body: HTTPBody = .none
    ) {
        self.init(
            method, path, query, headers, body,
            .parsed { response, _ in String(decoding: response.body, as: UTF8.self) }
        )
    }
}

extension Endpoint where Response == [UInt8] {
    /// Creates an endpoint whose response is the unchanged body.
    public init(
        _ method: String, _ path: some EndpointPath, query: KeyValuePairs<String, String?> = [:],
        headers: HTTPHeaders = [:],
        body: HTTPBody = .none
    ) {
        self.init(method, path, query, headers, body, .parsed { response, _ in response.body })
    }
}

extension Endpoint where Response == Data {
    /// Creates an endpoint whose response is the unchanged body.
    public init(
        _ method: String, _ path: some EndpointPath, query: KeyValuePairs<String, String?> = [:],
        headers: HTTPHeaders = [:],
        body: HTTPBody = .none
    ) {
        self.init(method, path, query, headers, body, .parsed { response, _ in Data(response.body) })
    }
}

extension Endpoint where Response == Nothing {
    /// Creates an endpoint without a value, for whose response only the status matters.
    public init(
        _ method: String, _ path: some EndpointPath, query: KeyValuePairs<String, String?> = [:],
        headers: HTTPHeaders = [:],
        body: HTTPBody = .none
    ) {
        self.init(method, path, query, headers, body, .parsed { _, _ in Nothing() })
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
    ///   - query: The fields of the query; those without a value are omitted.
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

public import Backplane
import FoundationEssentials

/// The contract of a manager that performs HTTP exchanges for its host: an executor that a plugin provides.
///
/// The manifest lists the manager under `network.executors` by a name, such as a URL scheme. The host calls it for
/// every request whose URL has that scheme, or whose options contain that name. The response is a stream, from which
/// the host reads an element whenever the response's reader needs one:
///
/// ```swift
/// static func methods(_ table: inout Methods) {
///     table.async(\.capabilities) { executor, _, _ in executor.engine.capabilities }
///     table.stream(\.exchange) { executor, order, parts, _ in
///         try await parts.send(try await executor.engine.open(order.request, order.options))
///     }
/// }
/// ```
public struct HTTPExecuting: Contract {
    /// The version of the contract.
    public static let version: Version = "1.0.0"
    /// Returns the parts of HTTP that the executor supports; the host calls it before each exchange.
    public let capabilities = AsyncMethod<Nothing, HTTPCapabilities>()
    /// Performs one exchange; the elements are the head of the response and then the pieces of its body.
    ///
    /// Elements before the head may report the progress of the request's body, as numbers of sent bytes. The stream
    /// ends after the last piece. It throws an error if there is no response, or if the body is interrupted. Closing
    /// the stream ends the exchange.
    public let exchange = StreamMethod<HTTPOrder, HTTPResponsePart>()

    /// Creates the contract.
    public init() {}
}

/// A validated request for a plugin executor, with its body in memory or in a file.
public struct HTTPOrder: Sendable {
    /// The request method, such as `GET`.
    public var method: String
    /// The absolute URL.
    public var url: String
    /// The header fields, without `Content-Length` and `Transfer-Encoding`.
    public var headers: HTTPHeaders
    /// The request's body, of at most 1 MB; `nil` if there is none or it is in ``file``.
    public var body: [UInt8]?
    /// The absolute path of the file that is the request's body, which exists until the exchange ends.
    public var file: String?
    /// A Boolean value that indicates whether the body is a stream of unknown length, which HTTP/1.1 sends in chunks.
    ///
    /// Only executors with ``HTTPCapabilities/streamedUploads`` receive such a body.
    public var isChunked: Bool
    /// A Boolean value that indicates whether compressed content is requested and decoded.
    public var decompresses: Bool
    /// The name of the request's credential, and its account, for the requests that the executor sends itself.
    ///
    /// Only executors with ``HTTPCapabilities/credentialNames`` receive them.
    public var credential, account: String?

    package init(_ request: HTTPRequest, _ options: HTTPOptions) {
        (method, url, headers) = (request.method, request.url, request.headers)
        (isChunked, decompresses) = (false, options.decompresses)
    }

    /// The request with its body, which can be resent.
    public var request: HTTPRequest {
        let whole = file.map { HTTPBody.file($0) } ?? .bytes(body ?? [])
        return HTTPRequest(
            method, url, headers: headers, body: isChunked ? .replayable { try whole.open() } : whole)
    }

    /// The options that an executor follows.
    public var options: HTTPOptions {
        var options = HTTPOptions()
        (options.decompresses, options.credential, options.account) = (decompresses, credential, account)
        return options
    }
}

/// An element of a response from a plugin executor.
public enum HTTPResponsePart: Sendable {
    /// The number of bytes of the request's body that the server has; precedes the head, any number of times.
    case sent(Int64)
    /// The head of the response; only the progress of the request precedes it.
    case head(HTTPHead)
    /// The next bytes of the body, best up to 64 KB.
    case body([UInt8])
}

/// The head of a response from a plugin executor.
public struct HTTPHead: Codable, Sendable {
    /// The status code, from 200 to 599.
    public var status: Int
    /// The header fields.
    public var headers: HTTPHeaders
    /// The version of the protocol, such as `HTTP/1.1`; `nil` if it is unknown.
    public var version: String?

    /// Creates the head of a response.
    public init(status: Int, headers: HTTPHeaders, version: String? = nil) {
        (self.status, self.headers, self.version) = (status, headers, version)
    }
}

extension StreamSender<HTTPResponsePart> {
    /// Sends a response: its head, and then its body as the host reads it.
    ///
    /// - Throws: The errors of the body; `call.cancelled` if the response is no longer needed.
    public func send(_ response: HTTPStreamedResponse) async throws {
        try await send(
            .head(HTTPHead(status: response.status, headers: response.headers, version: response.version)))
        // An encoded stream keeps 64 elements, which are then 4 MB.
        let size = 64 << 10
        for try await chunk in response.body {
            for start in stride(from: 0, to: chunk.count, by: size) {
                try await send(.body(Array(chunk[start..<min(start + size, chunk.count)])))
            }
        }
    }
}

// By hand, since synthesised keys would add eight conformances to every plugin (``TextKey``); bytes are Base64.

extension HTTPOrder: Codable {
    /// Decodes an order from an object with its properties.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        method = try values.decode(String.self, forKey: .method)
        url = try values.decode(String.self, forKey: .url)
        headers = try values.decode(HTTPHeaders.self, forKey: .headers)
        body = try values.decodeIfPresent(Data.self, forKey: .body).map { Array($0) }
        file = try values.decodeIfPresent(String.self, forKey: .file)
        isChunked = try values.decode(Bool.self, forKey: .isChunked)
        decompresses = try values.decode(Bool.self, forKey: .decompresses)
        credential = try values.decodeIfPresent(String.self, forKey: .credential)
        account = try values.decodeIfPresent(String.self, forKey: .account)
    }

    /// Encodes an order as an object with its properties.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(method, forKey: .method)
        try values.encode(url, forKey: .url)
        try values.encode(headers, forKey: .headers)
        try values.encodeIfPresent(body.map { Data($0) }, forKey: .body)
        try values.encodeIfPresent(file, forKey: .file)
        try values.encode(isChunked, forKey: .isChunked)
        try values.encode(decompresses, forKey: .decompresses)
        try values.encodeIfPresent(credential, forKey: .credential)
        try values.encodeIfPresent(account, forKey: .account)
    }
}

extension HTTPResponsePart: Codable {
    /// Decodes a part from an object: a head with its properties, bytes as `body`, or their number as `sent`.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        if let bytes = try values.decodeIfPresent(Data.self, forKey: .body) {
            self = .body(Array(bytes))
        } else if let count = try values.decodeIfPresent(Int64.self, forKey: .sent) {
            self = .sent(count)
        } else {
            self = .head(try HTTPHead(from: decoder))
        }
    }

    /// Encodes a part as an object.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        switch self {
        case .body(let bytes): try values.encode(Data(bytes), forKey: .body)
        case .sent(let count): try values.encode(count, forKey: .sent)
        case .head(let head): try head.encode(to: encoder)
        }
    }
}

extension TextKey {
    fileprivate static let method = TextKey("method")
    fileprivate static let url = TextKey("url")
    fileprivate static let headers = TextKey("headers")
    fileprivate static let body = TextKey("body")
    fileprivate static let file = TextKey("file")
    fileprivate static let isChunked = TextKey("isChunked")
    fileprivate static let decompresses = TextKey("decompresses")
    fileprivate static let credential = TextKey("credential")
    fileprivate static let account = TextKey("account")
    fileprivate static let sent = TextKey("sent")
}

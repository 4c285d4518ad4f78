public import Backplane
import FoundationEssentials

/// The contract of a manager that performs HTTP exchanges for its host: an executor that a plugin provides.
///
/// The manifest names it under `network.executors`, and the host then calls it for every request with that URL scheme,
/// or whose options name it. The response is a stream, of which the host reads an element when its reader wants one:
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
    /// The parts of HTTP that the executor supports, which the host requests before each exchange.
    public let capabilities = AsyncMethod<Nothing, HTTPCapabilities>()
    /// Performs one exchange; the elements are the head of the response and then the pieces of its body.
    ///
    /// Before the head there may be numbers of bytes that were sent, for the progress of the request's body.
    /// The stream ends after the last piece. It throws an error if there is no response, or if its body is interrupted.
    /// Closing it ends the exchange.
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
    /// The names and values of the header fields in order, without `Content-Length` and `Transfer-Encoding`.
    public var headers: [[String]]
    /// The request's body, of at most 1 MB; `nil` if there is none or it is in ``file``.
    public var body: [UInt8]?
    /// The absolute path of the file that is the request's body, which exists until the exchange ends.
    public var file: String?
    /// A Boolean value that indicates whether the body is a stream of unknown length, which HTTP/1.1 sends in chunks.
    ///
    /// Only executors with ``HTTPCapabilities/streamedUploads`` receive one.
    public var isChunked: Bool
    /// A Boolean value that indicates whether compressed content is requested and decoded.
    public var decompresses: Bool
    /// The name of the request's credential, and its account, for the requests that the executor sends itself.
    ///
    /// Only executors with ``HTTPCapabilities/credentialNames`` receive them.
    public var credential, account: String?

    /// Creates an order for a request without its body.
    package init(_ request: HTTPRequest, _ options: HTTPOptions) {
        (method, url, headers) = (request.method, request.url, request.headers.pairs)
        (isChunked, decompresses) = (false, options.decompresses)
    }

    /// The request with its body, which can be resent.
    public var request: HTTPRequest {
        var fields: HTTPHeaders = [:]
        for pair in headers where pair.count == 2 { fields.add(pair[0], pair[1]) }
        let whole = file.map { HTTPBody.file($0) } ?? .bytes(body ?? [])
        return HTTPRequest(
            method, url, headers: fields, body: isChunked ? .replayable { try whole.open() } : whole)
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
    /// The number of bytes of the request's body that the server has, before the head; it may come any number of times.
    case sent(Int64)
    /// The head of the response, which is the first element but for the progress of the request.
    case head(HTTPHead)
    /// The next bytes of the body, best up to 64 KB.
    case body([UInt8])
}

/// The head of a response from a plugin executor.
public struct HTTPHead: Sendable {
    /// The status code, from 200 to 599.
    public var status: Int
    /// The names and values of the header fields in order.
    public var headers: [[String]]
    /// The version of the protocol, such as `HTTP/1.1`; `nil` if it is unknown.
    public var version: String?

    /// Creates the head of a response.
    public init(status: Int, headers: HTTPHeaders, version: String? = nil) {
        (self.status, self.headers, self.version) = (status, headers.pairs, version)
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

extension HTTPHeaders {
    /// Creates header fields from names and values in order.
    ///
    /// - Throws: `network.malformed` for an element that is not a pair of a name and a value.
    package init(pairs: [[String]]) throws(BackplaneError) {
        self = [:]
        for pair in pairs {
            guard pair.count == 2 else {
                throw BackplaneError(
                    .networkMalformed, "a header field consists of a name and a value; found \(pair.count) strings")
            }
            add(pair[0], pair[1])
        }
    }

    /// The names and values in order.
    package var pairs: [[String]] { fields.map { [$0.name, $0.value] } }
}

extension HTTPHeaders: Codable {
    /// Decodes header fields from an array of names and values.
    public init(from decoder: any Decoder) throws { try self.init(pairs: [[String]](from: decoder)) }

    /// Encodes the header fields as an array of names and values, in order.
    public func encode(to encoder: any Encoder) throws { try pairs.encode(to: encoder) }
}

// By hand, since synthesised keys would add eight conformances to every plugin (``TextKey``); bytes are Base64.

extension HTTPOrder: Codable {
    /// Decodes an order from an object with its properties.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        method = try values.decode(String.self, forKey: .method)
        url = try values.decode(String.self, forKey: .url)
        headers = try values.decode([[String]].self, forKey: .headers)
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
            return
        }
        if let count = try values.decodeIfPresent(Int64.self, forKey: .sent) {
            self = .sent(count)
            return
        }
        var head = HTTPHead(status: try values.decode(Int.self, forKey: .status), headers: [:])
        head.headers = try values.decode([[String]].self, forKey: .headers)
        head.version = try values.decodeIfPresent(String.self, forKey: .version)
        self = .head(head)
    }

    /// Encodes a part as an object.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        switch self {
        case .body(let bytes): try values.encode(Data(bytes), forKey: .body)
        case .sent(let count): try values.encode(count, forKey: .sent)
        case .head(let head):
            try values.encode(head.status, forKey: .status)
            try values.encode(head.headers, forKey: .headers)
            try values.encodeIfPresent(head.version, forKey: .version)
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
    fileprivate static let status = TextKey("status")
    fileprivate static let version = TextKey("version")
}

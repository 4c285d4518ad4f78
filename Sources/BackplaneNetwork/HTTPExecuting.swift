public import Backplane
import CBackplane
import Synchronization

/// The contract of a manager that performs HTTP exchanges for its host: an executor that a plugin provides.
///
/// The manifest names it under `network.executors`, and the host then calls it for every request with that URL scheme,
/// or whose options name it. Heads pass through the contract; the bytes of bodies pass through `backplane.bodies`,
/// under the numbers in ``HTTPOrder``. A Swift provider transfers both with `execute(_:_:collecting:_:)` of its
/// context:
///
/// ```swift
/// static func methods(_ table: inout Methods) {
///     table.async(\.capabilities) { executor, _, _ in executor.engine.capabilities }
///     table.stream(\.exchange) { executor, order, heads, call in
///         try await executor.context.execute(order, heads) { request, options in
///             try await executor.engine.open(request, options)
///         }
///     }
/// }
/// ```
public struct HTTPExecuting: Contract {
    /// The version of the contract.
    public static let version: Version = "1.0.0"
    /// The parts of HTTP that the executor supports, which the host requests before each exchange.
    public let capabilities = AsyncMethod<Nothing, HTTPCapabilities>()
    /// Performs one exchange; the only element is the head of the response.
    ///
    /// The stream ends once the whole body of the response has been pushed. It throws an error if there is no
    /// response, or if its body is interrupted. Closing it ends the exchange.
    public let exchange = StreamMethod<HTTPOrder, HTTPHead>()

    /// Creates the contract.
    public init() {}
}

/// A validated request for a plugin executor, with numbers in place of its bodies.
public struct HTTPOrder: Sendable {
    /// The request method, such as `GET`.
    public var method: String
    /// The absolute URL.
    public var url: String
    /// The names and values of the header fields in order, without `Content-Length` and `Transfer-Encoding`.
    public var headers: [[String]]
    /// The number under which the request's body is pulled; `nil` if it has none.
    public var body: UInt64?
    /// The length of the request's body in bytes; `nil` if it is unknown.
    public var length: Int64?
    /// A Boolean value that indicates whether compressed content is requested and decoded.
    public var decompresses: Bool
    /// The number under which the response's body is pushed.
    public var response: UInt64

    package init(
        _ request: HTTPRequest, _ options: HTTPOptions, body: UInt64?, length: Int64?, response: UInt64
    ) {
        (method, url, headers) = (request.method, request.url, request.headers.pairs)
        (self.body, self.length, self.response) = (body, length, response)
        decompresses = options.decompresses
    }
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

extension ComponentContext {
    /// Performs an exchange that the host has requested, with a function that opens it.
    ///
    /// Both bodies are streamed: the request's is pulled from the host as the function's engine reads it, and the
    /// response's is read as the host consumes it. Cancelling the task, as the host does when the exchange is no longer
    /// needed, cancels the function and releases the response.
    ///
    /// - Parameters:
    ///   - order: The request.
    ///   - heads: The sender of the stream with which the order arrived.
    ///   - isCollected: A Boolean value that indicates whether the request's body is read into memory first, for
    ///     engines that cannot send a body while they read it.
    ///   - open: A function that sends the request, and returns once the head of the response has arrived.
    /// - Throws: The errors of `open` and of the response's body; `host.interface-missing` with an older host.
    public func execute(
        _ order: HTTPOrder, _ heads: StreamSender<HTTPHead>, collecting isCollected: Bool = false,
        _ open: (HTTPRequest, HTTPOptions) async throws -> HTTPStreamedResponse
    ) async throws {
        let bodies = try CarriedBodies(services)
        var request = HTTPRequest(order.method, order.url, headers: try HTTPHeaders(pairs: order.headers))
        if let body = order.body {
            request.body = .carried(bodies, body, order)
            if isCollected { request.body = try await request.body.collected(upTo: HTTPOptions.collectionLimit) }
        }
        var options = HTTPOptions()
        options.decompresses = order.decompresses
        let response = try await open(request, options)
        try await heads.send(
            HTTPHead(status: response.status, headers: response.headers, version: response.version))
        for try await chunk in response.body { try await bodies.push(chunk, to: order.response) }
        try await bodies.end(order.response)
    }
}

extension HTTPBody {
    /// Returns the body of an order, which can be read once.
    fileprivate static func carried(_ bodies: CarriedBodies, _ number: UInt64, _ order: HTTPOrder) -> HTTPBody {
        let once = Once()
        return .produced(length: order.length, isReplayable: false) {
            try once.take()
            return bodies.stream(number, length: order.length)
        }
    }
}

/// The bodies of one exchange that a component performs for its host, through `backplane.bodies`.
struct CarriedBodies: Sendable {
    /// The maximum number of bytes that cross the boundary at once.
    private static let pieceSize = 256 << 10
    private let table: ConstantPointer<bp_bodies_1>
    private let component: UInt64

    /// Creates access to the bodies through a component's services.
    ///
    /// - Throws: `host.interface-missing` if the host is older than `backplane.bodies`.
    init(_ services: ComponentServices) throws(BackplaneError) {
        guard let table = services.host.table(BP_BODIES, revision: 1, as: bp_bodies_1.self) else {
            throw BackplaneError(.interfaceMissing, "this host does not offer \(BP_BODIES)/1; use a newer host")
        }
        (self.table, component) = (table, services.handle)
    }

    /// Returns a body that is pulled from the host as it is read.
    func stream(_ body: UInt64, length: Int64?) -> HTTPBodyStream {
        HTTPBodyStream(length: length) { [self] in
            let result = await withUnsafeContinuation {
                (reader: ChunkReader) in
                table.pointer.pointee.pull(
                    component, body, UInt64(Self.pieceSize), resumeReader, Box(reader).toContext())
            }
            return try result.get()
        }
    }

    /// Pushes bytes, and returns when the host's reader has consumed them.
    ///
    /// - Throws: `network.body` if the body is no longer read.
    func push(_ bytes: [UInt8], to body: UInt64) async throws(BackplaneError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Self.pieceSize)
            rest = rest.dropFirst(piece.count)
            try await send(piece, to: body)
        }
    }

    /// Ends a body.
    func end(_ body: UInt64) async throws(BackplaneError) { try await send([], to: body) }

    private func send(_ piece: ArraySlice<UInt8>, to body: UInt64) async throws(BackplaneError) {
        let result = await withUnsafeContinuation {
            (writer: UnsafeContinuation<Result<Void, BackplaneError>, Never>) in
            piece.withUnsafeBufferPointer { bytes in
                table.pointer.pointee.push(
                    component, body, bp_bytes(data: bytes.baseAddress, length: bytes.count),
                    { context, status, payload in
                        let writer = Box<UnsafeContinuation<Result<Void, BackplaneError>, Never>>.take(context)
                        do throws(BackplaneError) {
                            _ = try EncodedAnswer(status, payload).get()
                            writer.resume(returning: .success(()))
                        } catch {
                            writer.resume(returning: .failure(error))
                        }
                    }, Box(writer).toContext())
            }
        }
        return try result.get()
    }
}

// By hand, since synthesised keys would add eight conformances to every plugin (``TextKey``).

extension HTTPOrder: Codable {
    /// Decodes an order from an object with its properties.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        method = try values.decode(String.self, forKey: .method)
        url = try values.decode(String.self, forKey: .url)
        headers = try values.decode([[String]].self, forKey: .headers)
        body = try values.decodeIfPresent(UInt64.self, forKey: .body)
        length = try values.decodeIfPresent(Int64.self, forKey: .length)
        decompresses = try values.decode(Bool.self, forKey: .decompresses)
        response = try values.decode(UInt64.self, forKey: .response)
    }

    /// Encodes an order as an object with its properties.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(method, forKey: .method)
        try values.encode(url, forKey: .url)
        try values.encode(headers, forKey: .headers)
        try values.encodeIfPresent(body, forKey: .body)
        try values.encodeIfPresent(length, forKey: .length)
        try values.encode(decompresses, forKey: .decompresses)
        try values.encode(response, forKey: .response)
    }
}

extension HTTPHead: Codable {
    /// Decodes a head from an object with its properties.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        status = try values.decode(Int.self, forKey: .status)
        headers = try values.decode([[String]].self, forKey: .headers)
        version = try values.decodeIfPresent(String.self, forKey: .version)
    }

    /// Encodes a head as an object with its properties.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(status, forKey: .status)
        try values.encode(headers, forKey: .headers)
        try values.encodeIfPresent(version, forKey: .version)
    }
}

extension TextKey {
    fileprivate static let method = TextKey("method")
    fileprivate static let url = TextKey("url")
    fileprivate static let headers = TextKey("headers")
    fileprivate static let body = TextKey("body")
    fileprivate static let length = TextKey("length")
    fileprivate static let decompresses = TextKey("decompresses")
    fileprivate static let response = TextKey("response")
    fileprivate static let status = TextKey("status")
    fileprivate static let version = TextKey("version")
}

public import Backplane

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

public import Backplane
public import BackplaneNetwork

/// An engine that carries out HTTP exchanges: over a network, from files, or from memory in a test.
///
/// One request is one exchange: redirects, retries, caching and authentication are handled by the pipeline. An executor
/// that follows these rules passes the suite of `BackplaneConformance`:
///
/// - A request that needs more than ``capabilities`` is refused before anything is sent, with ``require(_:_:)``.
/// - ``open(_:_:)`` returns once the head of the final response has arrived, regardless of its status. The response's
///   body is read from its producer on demand, and the request's body as the server accepts it. Bytes that arrive
///   before they are read go to a temporary file rather than to memory, if the server cannot be made to wait.
/// - Cancelling the task ends the exchange immediately, and so does releasing the response.
/// - Errors are `CancellationError`, or `BackplaneError`s that state the URL as `printableURL` and contain no values.
public protocol HTTPExecutor: Sendable {
    /// The URL schemes that the executor serves, in lower case.
    var schemes: [String] { get }
    /// The parts of HTTP that the executor supports.
    var capabilities: HTTPCapabilities { get }

    /// Sends a request, and returns once the head of the final response has arrived.
    ///
    /// The executor follows the options `decompresses` and `tls`, and calls `pinMismatched` for a mismatch that `tls`
    /// asks only to report. Time limits, progress and `maximumBodySize` are handled by the pipeline; an executor may
    /// use the latter to end a response early.
    ///
    /// - Throws: `network.unsupported` before anything is sent; `network.failed` and other codes of the network if
    ///   there is no response; `CancellationError`.
    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse
}

extension HTTPExecutor {
    /// Sends a request and returns the response with its body in memory, regardless of its status.
    ///
    /// - Throws: The errors of ``open(_:_:)``; `network.too-large` if the body has more than `limit` bytes.
    public func execute(
        _ request: HTTPRequest, upTo limit: Int = HTTPOptions.collectionLimit, _ options: HTTPOptions = HTTPOptions()
    ) async throws -> HTTPResponse {
        var options = options
        options.maximumBodySize = Swift.min(limit, options.maximumBodySize ?? limit)
        return try await open(request, options).collect(upTo: limit, of: request)
    }
}

extension HTTPStreamedResponse {
    /// Collects the body, within a limit.
    ///
    /// The error for a body that is too large names the host of the request. If possible, it is thrown before the body
    /// is read.
    func collect(upTo limit: Int, of request: HTTPRequest) async throws -> HTTPResponse {
        try requireLength(upTo: limit, for: request)
        do {
            return try await collect(upTo: limit)
        } catch let error as BackplaneError where error.code == .networkTooLarge && error.location == nil {
            throw HTTPFailure.tooLarge(limit: limit).error(for: request)
        }
    }

    func requireLength(upTo limit: Int?, for request: HTTPRequest) throws(BackplaneError) {
        guard let limit, let length = announcedLength(for: request), length > limit else { return }
        body.cancel()
        throw HTTPFailure.tooLarge(limit: limit).error(for: request)
    }

    package func announcedLength(for request: HTTPRequest) -> Int64? { hasBody(for: request) ? contentLength : nil }

    /// Returns whether a body of the length stated in `Content-Length` follows (RFC 9110, section 6.4.1).
    package func hasBody(for request: HTTPRequest) -> Bool {
        request.method != "HEAD" && status != 204 && status != 304
    }
}

extension HTTPRequest {
    /// Returns the capabilities that the request requires with these options.
    public func requirements(_ options: HTTPOptions) -> HTTPCapabilities {
        var needed: HTTPCapabilities = []
        if body.isStream { needed.insert(.streamedUploads) }
        if options.decompresses { needed.insert(.decompression) }
        if options.tls != nil { needed.insert(.tlsSettings) }
        if !body.isEmpty, method == "GET" || method == "HEAD" { needed.insert(.contentInGET) }
        return needed
    }
}

extension HTTPExecutor {
    /// Checks that the executor has the capabilities that a request needs; executors call this first.
    ///
    /// - Throws: `network.unsupported` with the names of the missing capabilities.
    public func require(_ request: HTTPRequest, _ options: HTTPOptions) throws(BackplaneError) {
        let missing = request.requirements(options).subtracting(capabilities)
        guard missing.isEmpty else {
            throw BackplaneError(
                .networkUnsupported,
                "the request needs \(missing), which \(type(of: self)) does not have; nothing was sent",
                at: request.printableURL)
        }
    }
}

/// An executor whose responses are computed by a closure, without a network.
///
/// ```swift
/// let books = MemoryExecutor { request, _ in
///     HTTPStreamedResponse(HTTPResponse(status: 200, body: Array("Moby-Dick".utf8)))
/// }
/// ```
public struct MemoryExecutor: HTTPExecutor {
    /// A function that answers a request.
    public typealias Answer = @Sendable (HTTPRequest, HTTPOptions) async throws -> HTTPStreamedResponse

    /// The URL schemes that the executor serves.
    public let schemes: [String]
    /// The capabilities that requests may need; the closure must honour them.
    public let capabilities: HTTPCapabilities
    private let answer: Answer

    /// Creates an executor that answers every request with a function.
    public init(
        schemes: [String] = ["http", "https"],
        capabilities: HTTPCapabilities = [.streamedUploads, .contentInGET], answer: @escaping Answer
    ) {
        (self.schemes, self.capabilities, self.answer) = (schemes, capabilities, answer)
    }

    /// Answers a request with the function.
    public func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        try require(request, options)
        try Task.checkCancellation()
        return try await answer(request, options)
    }
}

import Backplane
public import BackplaneNetwork

/// An engine that carries out HTTP exchanges: over a network, from files, or from memory in a test.
///
/// One request is one exchange: redirects, retries, caching and authentication are handled by the pipeline. An executor
/// that follows these rules passes the suite of `BackplaneConformance`:
///
/// - A request that needs more than ``capabilities`` is refused before anything is sent, with ``require(_:_:)``.
/// - ``open(_:_:)`` returns once the head of the final response has arrived, regardless of its status. The response's
///   body is read from its producer on demand, and the request's body as the server accepts it.
/// - Cancelling the task ends the exchange immediately, and so does releasing the response.
/// - Errors are `CancellationError`, or `BackplaneError`s that state the URL as `printableURL` and contain no values.
public protocol HTTPExecutor: Sendable {
    /// The URL schemes that the executor serves, in lower case.
    var schemes: [String] { get }
    /// The parts of HTTP that the executor supports.
    var capabilities: HTTPCapabilities { get }

    /// Sends a request, and returns once the head of the final response has arrived.
    ///
    /// The executor follows the options `decompresses` and `tls`. Time limits, progress and
    /// `maximumBodySize` are handled by the pipeline; an executor may use the latter to end a response early.
    ///
    /// - Throws: `network.unsupported` before anything is sent; `network.failed` and other codes of the network if
    ///   there is no response; `CancellationError`.
    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse
}

/// An executor that writes bodies to files itself, because without back-pressure it would hold them in memory.
///
/// The bodies of other executors are written as they are read.
public protocol HTTPFileExecutor: HTTPExecutor {
    /// Sends a request, and writes the response's body to a file as it arrives.
    ///
    /// The executor also follows the option `maximumBodySize`. Cancelling the task ends the exchange immediately, and
    /// leaves an existing file unchanged.
    ///
    /// - Parameters:
    ///   - path: The path of the file, which replaces an existing one once it is complete.
    ///   - headed: A function that is called once the response's head has arrived, before `received`, with the response
    ///     without its body. It returns whether to receive the body; if not, the exchange ends, and an existing file
    ///     remains unchanged.
    ///   - received: A function that is called with the number of bytes of each part of the body.
    /// - Returns: The response without its body.
    /// - Throws: The errors of ``HTTPExecutor/open(_:_:)``; `network.too-large`; `network.file` if the file cannot be
    ///   written.
    func download(
        _ request: HTTPRequest, to path: String, _ options: HTTPOptions,
        headed: @escaping @Sendable (HTTPStreamedResponse) -> Bool, received: @escaping @Sendable (Int) -> Void
    ) async throws -> HTTPResponse
}

extension HTTPExecutor {
    /// Sends a request, and writes the response's body to a file, without the limits and the progress of a pipeline.
    ///
    /// - Returns: The response without its body.
    /// - Throws: The errors of ``open(_:_:)``; `network.file` if the file cannot be written.
    public func download(_ request: HTTPRequest, to path: String, _ options: HTTPOptions) async throws -> HTTPResponse {
        guard let executor = self as? any HTTPFileExecutor else {
            return try await open(request, options).write(to: path)
        }
        return try await executor.download(request, to: path, options, headed: { _ in true }, received: { _ in })
    }

    /// Sends a request and returns the response with its body in memory, regardless of its status.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - limit: The maximum number of bytes of the body.
    ///   - options: The options that executors follow.
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
    /// Collects the body; an error for a body that is too large, if possible before it is read, names the host of the
    /// request.
    func collect(upTo limit: Int, of request: HTTPRequest) async throws -> HTTPResponse {
        let tooLarge = HTTPFailure.tooLarge(limit: limit)
        if let length = contentLength, length > limit, hasBody(for: request) {
            body.cancel()
            throw tooLarge.error(for: request)
        }
        do {
            return try await collect(upTo: limit)
        } catch let error as BackplaneError where error.code == .networkTooLarge && error.location == nil {
            throw tooLarge.error(for: request)
        }
    }

    /// Returns whether a body of the length stated in `Content-Length` follows (RFC 9110, section 6.4.1).
    package func hasBody(for request: HTTPRequest) -> Bool {
        request.method != "HEAD" && status != 204 && status != 304
    }
}

import Backplane
public import BackplaneExchange
public import BackplaneNetwork
import Foundation
import FoundationNetworking
import Synchronization

/// An HTTP executor that uses Foundation's URLSession, for builds without package dependencies.
///
/// ```swift
/// let http = URLSessionExecutor()
/// let host = PluginHost(manifest: manifest, options: HostOptions(executors: [http]))
/// ```
///
/// The executor has its own session without cookies, cache or credentials, which ends with ``shutdown()`` or when the
/// executor is released. Each request is a single exchange: redirects and retries are left to the caller.
///
/// Foundation on Linux imposes these limits:
/// - A response that ends within its head **terminates the program**, as does one with trailer fields. Use
///   `BackplaneHTTP` for servers that are not your own.
/// - There is no back-pressure: unread data is still received, and held in memory up to a limit. Use a file for bodies
///   of any size, with ``download(_:to:_:headed:received:)``.
/// - While one server sends continuously, all other exchanges of URLSession in the process wait, and the response is
///   read even beyond the limit.
/// - Bodies of requests are read into memory before they are sent, and streamed bodies are refused.
/// - The fields of a response are sorted by name, and fields of one name are joined by commas, except `Set-Cookie`. The
///   fields of a request are also joined. A field with invalid UTF-8 is an error.
/// - Compressed bodies arrive decoded, without `Content-Encoding` and `Content-Length`. No compression is requested
///   unless the request does, and the option `decompresses` is refused.
/// - The body of a redirect is held back until it is complete, and is lost if there is no `Location`.
/// - Interim responses are dropped. Proxies, certificate pinning and HTTP/2 are not supported.
/// - A `GET` has no body, and `.` and `..` in a path are resolved before sending. The only connection timeout is
///   libcurl's, which is five minutes: set a deadline for calls.
/// - `User-Agent`, `Accept` and `Accept-Language` are added to requests without them.
public final class URLSessionExecutor: HTTPFileExecutor {
    /// The schemes that are served: `http` and `https`.
    public let schemes = ["http", "https"]
    /// No optional capabilities; compressed content is decoded whether or not this was requested.
    public let capabilities: HTTPCapabilities = []
    private let session: URLSession
    private let transfers = Transfers()
    private let maximumBodySize: Int

    /// Creates an executor with its own session.
    ///
    /// - Parameters:
    ///   - maximumBodySize: The maximum number of bytes of a body that are held in memory: for a request, and for the
    ///     unread part of a response. Beyond this limit, the exchange fails with `network.too-large`.
    ///   - connectionsPerHost: The maximum number of concurrent exchanges with one host. Further ones wait.
    public init(maximumBodySize: Int = 64 << 20, connectionsPerHost: Int = 64) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.httpMaximumConnectionsPerHost = connectionsPerHost
        // Seconds without data; deadlines are the host's.
        configuration.timeoutIntervalForRequest = 365 * 24 * 3600
        session = transfers.session(configuration)
        self.maximumBodySize = maximumBodySize
    }

    deinit {
        shutdown()
    }

    /// Ends all exchanges and closes all connections.
    ///
    /// Later requests fail.
    public func shutdown() {
        transfers.close(session)
    }

    /// Sends a request, and returns the response when its head has arrived, regardless of its status.
    ///
    /// - Throws: `network.failed`; `network.too-large` for a body in files beyond the limit; `network.unsupported` and
    ///   `network.refused` before anything is sent; `CancellationError`.
    public func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        let limit = min(maximumBodySize, options.maximumBodySize ?? maximumBodySize)
        let transfer = URLSessionTransfer(limit: limit)
        let (ready, head) = try await start(transfer, request, options)
        // Releasing the stream without having read it cancels the exchange.
        return HTTPStreamedResponse(
            head,
            body: HTTPBodyStream(cancel: { transfer.cancel(.shutDown) }) {
                do throws(HTTPFailure) {
                    return try await transfer.next()
                } catch {
                    try Task.checkCancellation()
                    throw error.error(for: ready)
                }
            })
    }

    /// Sends a request, and writes the response's body to a file as it arrives.
    ///
    /// The body may have any size, unless the options limit it.
    ///
    /// - Throws: The errors of ``open(_:_:)``; `network.file` if the file cannot be written.
    public func download(
        _ request: HTTPRequest, to path: String, _ options: HTTPOptions,
        headed: @escaping @Sendable (HTTPStreamedResponse) -> Bool, received: @escaping @Sendable (Int) -> Void
    ) async throws -> HTTPResponse {
        let file = try IncomingFile(path)
        defer { file.discard() }
        // The stream is empty: the file is in its place once it has ended.
        let isWanted = Mutex(true)
        let transfer = URLSessionTransfer(
            limit: options.maximumBodySize ?? .max,
            into: URLSessionTransfer.Sink(
                file: file,
                headed: { head in
                    let headed = headed(HTTPStreamedResponse(head, body: HTTPBodyStream([])))
                    isWanted.withLock { $0 = headed }
                    return headed
                }, received: received))
        let (ready, head) = try await start(transfer, request, options)
        let response = HTTPStreamedResponse(head, body: HTTPBodyStream([]))
        guard isWanted.withLock({ $0 }) else {
            return HTTPResponse(status: response.status, headers: response.headers)
        }
        do throws(HTTPFailure) {
            while try await transfer.next() != nil {}
        } catch {
            try Task.checkCancellation()
            throw error.error(for: ready)
        }
        try Task.checkCancellation()  // an abandoned exchange is no longer awaited
        _ = try file.finish()
        return HTTPResponse(status: response.status, headers: response.headers)
    }

    /// Starts an exchange and waits for its head.
    private func start(
        _ transfer: URLSessionTransfer, _ request: HTTPRequest, _ options: HTTPOptions
    ) async throws -> (HTTPRequest, HTTPURLResponse) {
        try require(request, options)
        var ready = try request.readyToSend()
        ready.body = try await ready.body.collected(upTo: maximumBodySize)
        let outgoing = try URLRequest(ready)
        do {
            return (ready, try await transfer.head { transfers.start(transfer, outgoing, in: session) }.get())
        } catch {
            try Task.checkCancellation()
            throw error.error(for: ready)
        }
    }
}

import Backplane
public import BackplaneNetwork
import Foundation
import FoundationNetworking

/// Carries requests out with Foundation's URLSession, for a build without packages.
///
/// ```swift
/// let http = URLSessionExecutor()
/// let host = PluginHost(manifest: manifest, options: HostOptions(executors: [http]))
/// ```
///
/// Its session is its own, keeps no cookies, cache or credentials, and is ended by ``shutdown()`` or when the executor is
/// released. One request is one exchange: no redirect is followed, nothing is retried. All that is decided above.
///
/// What it cannot do, since Foundation on Linux does not:
/// - A response that breaks off within its head **ends the program**. Where servers are not your own, use `BackplaneHTTP`.
/// - While one server sends without a pause, all other exchanges of URLSession in the process wait, and it is read on even over the limit.
/// - The fields of a response come in the order of their names, those of one name as one field, joined by commas; two `Set-Cookie` cannot
///   be told apart. The fields of a request go out likewise. A field with bytes that are not UTF-8 is an error.
/// - Compressed bodies arrive decoded, without `Content-Encoding` and `Content-Length`; none is asked for unless the request does.
/// - The body of a redirect is held until it is whole, and is not seen at all where there is no `Location`.
/// - A `GET` has no body, `.` and `..` in a path are resolved before it is sent, and there is no timeout for connecting but libcurl's of five minutes: give calls a deadline.
/// - `User-Agent`, `Accept` and `Accept-Language` are added where the request has none.
public final class URLSessionExecutor: HTTPExecutor {
    public let schemes = ["http", "https"]
    private let session: URLSession
    private let transfers = Transfers()
    private let maximumBodySize: Int

    /// - Parameters:
    ///   - maximumBodySize: In bytes; a response with more is `network.too-large`, at once.
    ///   - connectionsPerHost: How many exchanges one host is asked for at once; more wait.
    public init(maximumBodySize: Int = 64 << 20, connectionsPerHost: Int = 64) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.httpMaximumConnectionsPerHost = connectionsPerHost
        configuration.timeoutIntervalForRequest = 365 * 24 * 3600       // in seconds, and of silence: deadlines are the host's
        session = transfers.session(configuration)
        self.maximumBodySize = maximumBodySize
    }

    deinit {
        shutdown()
    }

    /// Ends all exchanges and closes all connections; requests that come later fail.
    public func shutdown() {
        transfers.close(session)
    }

    /// - Throws: `network.failed`, `network.too-large`; `network.refused` for what is no HTTP request; `CancellationError`.
    public func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        let ready = try request.readyToSend()
        let outgoing = try URLRequest(ready)
        let transfer = Transfer(maximumBodySize: maximumBodySize)
        do {
            return try await transfer.run { transfers.start(transfer, outgoing, in: session) }.get()
        } catch {
            try Task.checkCancellation()
            throw error.error(for: ready)
        }
    }
}

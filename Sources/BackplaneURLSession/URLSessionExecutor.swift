import Backplane
public import BackplaneNetwork
import Foundation
import FoundationNetworking

/// An HTTP executor that uses Foundation's URLSession, for builds without packages.
///
/// ```swift
/// let http = URLSessionExecutor()
/// let host = PluginHost(manifest: manifest, options: HostOptions(executors: [http]))
/// ```
///
/// The executor has a session of its own without cookies, cache or credentials. ``shutdown()`` or the release of the
/// executor ends it. One request is one exchange: redirects and retries are left to the caller.
///
/// Foundation on Linux imposes these limits:
/// - A response that breaks off within its head **ends the program**. Use `BackplaneHTTP` for servers that are not your
///   own.
/// - While one server sends without a pause, all other exchanges of URLSession in the process wait, and the response is
///   read even beyond the limit.
/// - The fields of a response are sorted by name, and fields of one name are joined by commas, so that two `Set-Cookie`
///   fields cannot be told apart. The same applies to the fields of a request. A field with bytes that are not UTF-8 is
///   an error.
/// - Compressed bodies arrive decoded, without `Content-Encoding` and `Content-Length`. No compression is requested
///   unless the request does.
/// - The body of a redirect is held back until it is complete, and is lost if there is no `Location`.
/// - A `GET` has no body, and `.` and `..` in a path are resolved before sending. The only timeout for connecting is
///   libcurl's of five minutes: give calls a deadline.
/// - `User-Agent`, `Accept` and `Accept-Language` are added to requests without them.
public final class URLSessionExecutor: HTTPExecutor {
    /// The schemes that are served: `http` and `https`.
    public let schemes = ["http", "https"]
    private let session: URLSession
    private let transfers = Transfers()
    private let maximumBodySize: Int

    /// Creates an executor with a session of its own.
    ///
    /// - Parameters:
    ///   - maximumBodySize: The limit in bytes. A larger response immediately throws `network.too-large`.
    ///   - connectionsPerHost: The greatest number of concurrent exchanges with one host. Further ones wait.
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

    /// Sends a request and returns the response, whatever its status.
    ///
    /// - Throws: `network.failed`; `network.too-large`; `network.refused` for an invalid request; `CancellationError`.
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

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
/// - There is no back-pressure: unread data is still received. Up to 1 MB of each response is held in memory, and the
///   rest in a temporary file.
/// - While one server sends continuously, all other exchanges of URLSession in the process wait, and the response is
///   read even beyond the limit.
/// - Bodies of requests are read into memory before they are sent, and streamed bodies are refused.
/// - The fields of a response are sorted by name, and fields of one name are joined by commas, except `Set-Cookie`. The
///   fields of a request are also joined. A field with invalid UTF-8 is an error.
/// - Compressed bodies arrive decoded, without `Content-Encoding` and `Content-Length`. Compression is used only if the
///   request asks for it, and the option `decompresses` is refused.
/// - The body of a redirect is held back until it is complete, and is lost if there is no `Location`.
/// - Interim responses are dropped. Proxies, certificate pinning and HTTP/2 are not supported.
/// - A `GET` has no body, and `.` and `..` in a path are resolved before sending. The only connection timeout is
///   libcurl's, which is five minutes: set a deadline for calls.
/// - `User-Agent`, `Accept` and `Accept-Language` are added to requests without them.
public final class URLSessionExecutor: HTTPExecutor {
    /// The schemes that are served: `http` and `https`.
    public let schemes = ["http", "https"]
    /// No optional capabilities; compressed content is decoded whether or not this was requested.
    public let capabilities: HTTPCapabilities = []
    private let session: URLSession
    private let transfers = Transfers()
    private let maximumBodySize: Int
    private let unreadLimit: Int

    /// Creates an executor with its own session.
    ///
    /// - Parameters:
    ///   - maximumBodySize: The maximum number of bytes of a request's body, which is held in memory. Beyond this
    ///     limit, the exchange fails with `network.too-large`.
    ///   - connectionsPerHost: The maximum number of concurrent exchanges with one host. Further exchanges wait.
    public init(maximumBodySize: Int = 64 << 20, connectionsPerHost: Int = 64) {
        unreadLimit = min(1 << 20, maximumBodySize)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.httpMaximumConnectionsPerHost = connectionsPerHost
        // The number of seconds without data; the host enforces deadlines.
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
    /// - Throws: `network.failed`; `network.too-large` for a request's body beyond the limit; `network.unsupported` and
    ///   `network.refused` before anything is sent; `CancellationError`.
    public func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        try require(request, options)
        var ready = try request.readyToSend()
        ready.body = try await ready.body.collected(upTo: maximumBodySize)
        try Task.checkCancellation()  // a session may send before it is told of the cancellation
        let outgoing = try URLRequest(ready),
            transfer = URLSessionTransfer(
                limit: options.maximumBodySize ?? .max, memory: unreadLimit, sent: options.sent)
        let head: HTTPURLResponse
        do {
            transfers.start(transfer, outgoing, in: session)
            head = try await transfer.head()
        } catch {
            try Task.checkCancellation()
            throw error.error(for: ready)
        }
        // Releasing the stream without having read it cancels the exchange.
        return HTTPStreamedResponse(
            head, to: ready,
            body: HTTPBodyStream(cancel: { transfer.cancel(.shutDown) }) { [ready] in
                do throws(HTTPFailure) {
                    return try await transfer.next()
                } catch {
                    try Task.checkCancellation()
                    throw error.error(for: ready)
                }
            })
    }
}

extension URLRequest {
    init(_ request: HTTPRequest) throws(BackplaneError) {
        guard let url = URL(string: request.url) else {
            throw BackplaneError(.networkRefused, "URLSession cannot parse this URL", at: request.printableURL)
        }
        self.init(url: url)
        httpMethod = request.method
        for field in request.headers.fields { addValue(field.value, forHTTPHeaderField: field.name) }
        // Otherwise URLSession would add a form's content type, and every encoding that it can decode.
        if request.headers["Accept-Encoding"] == nil { setValue("identity", forHTTPHeaderField: "Accept-Encoding") }
        guard let body = request.body.bytes, !body.isEmpty else { return }
        if request.headers["Content-Type"] == nil {
            setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        }
        httpBody = Data(body)
    }
}

extension HTTPStreamedResponse {
    init(_ response: HTTPURLResponse, to request: HTTPRequest, body: HTTPBodyStream) {
        var headers: HTTPHeaders = [:]
        let fields = response.allHeaderFields.map { ("\($0.key)", "\($0.value)") }
        for (name, value) in fields.sorted(by: { $0.0 < $1.0 }) {
            for value in name.lowercased() == "set-cookie" ? Self.cookies(in: value) : [value] {
                headers.add(name, value)
            }
        }
        self.init(status: response.statusCode, headers: headers, body: body)
        if hasBody(for: request), headers["Content-Encoding"] != nil {
            (self.headers["Content-Encoding"], self.headers["Content-Length"]) = (nil, nil)
        }
    }

    /// Returns the `Set-Cookie` fields that Foundation has joined with commas. A new field begins with a name and `=`,
    /// unlike the text after the comma of a date.
    private static func cookies(in joined: String) -> [String] {
        joined.split(separator: /,\s*(?=[^\s;,=]+=)/).map(String.init)
    }
}

extension HTTPFailure {
    /// Creates the failure that corresponds to an error of URLSession, as far as Foundation on Linux distinguishes
    /// them.
    init(_ error: any Error) {
        guard let error = error as? URLError else {
            self = .other("\(error)")
            return
        }
        let reason = error.localizedDescription
        self =
            switch error.code {
            case .cannotFindHost: .hostUnknown
            case .cannotConnectToHost: .notConnected
            case .timedOut: .connectionTimedOut
            case .networkConnectionLost, .badServerResponse: .closed  // "Empty reply from server"
            // Foundation has no code for this error of libcurl.
            case .unknown where reason.hasPrefix("transfer closed"): .closed
            case .unsupportedURL: .malformed(reason)  // concerns the response, since the URL's scheme is supported
            case .unknown where reason.contains("SSL"):  // no code either; the cause is at the end of the text
                .insecure(reason.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? reason)
            case .cancelled: .shutDown
            default: .other(reason)
            }
    }
}

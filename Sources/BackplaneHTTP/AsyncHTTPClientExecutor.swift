#if Engines
import AsyncHTTPClient
import Backplane
public import BackplaneExchange
public import BackplaneNetwork
import FoundationEssentials
import NIOCore
import NIOHTTP1
import Synchronization

/// An HTTP executor that uses AsyncHTTPClient, with HTTP/1.1 and, if a server offers it over TLS, HTTP/2.
///
/// ```swift
/// let http = AsyncHTTPClientExecutor()
/// let host = PluginHost(manifest: manifest, options: HostOptions(executors: [http]))
/// ```
///
/// The executor has its own connections. Idle ones are kept open for a minute; ``shutdown()`` or the release of the
/// executor closes all of them. Its threads are those of NIO's global event loop group.
///
/// One request is one exchange: redirects, retries, caching and cookies are left to the caller. Header fields arrive in
/// order, including repeated ones. Bodies are streamed in both directions: an unread response is not received beyond
/// the data in flight (64 KB over HTTP/1.1, the window of 8 MB over HTTP/2).
///
/// Interim responses and trailer fields are dropped.
public final class AsyncHTTPClientExecutor: HTTPExecutor {
    /// The supported schemes: `http` and `https`.
    public let schemes = ["http", "https"]
    /// All capabilities.
    public let capabilities: HTTPCapabilities = [.streamedUploads, .decompression, .contentInGET, .tlsSettings]
    private let clients: HTTPClients
    /// The limit for exchanges with each host, one per connection.
    ///
    /// Without this limit, AsyncHTTPClient would count the wait for a connection as connection time, and let it time
    /// out.
    private let places: NetworkLimits
    private let origins = PooledOrigins()
    private let proxies: HTTPProxies
    private let decompressionRatio: Int

    /// Creates an executor with its own connections.
    ///
    /// - Parameters:
    ///   - connectTimeout: The time limit for connecting.
    ///   - connectionsPerHost: The maximum number of concurrent exchanges with one host. Additional exchanges are
    ///     queued, as long as their own limits allow.
    ///   - trustRoots: The path of a PEM file with the certificates to trust instead of the system's; `nil` means the
    ///     file that `SSL_CERT_FILE` names, if the variable is set.
    ///   - proxies: The proxies for `https:`; by default, the proxies defined by the environment.
    ///   - decompressionRatio: The maximum factor by which decoding may expand content, beyond which the exchange
    ///     fails.
    public init(
        connectTimeout: Duration = .seconds(10), connectionsPerHost: Int = 64, trustRoots: String? = nil,
        proxies: HTTPProxies = .environment, decompressionRatio: Int = 250
    ) {
        clients = HTTPClients(
            connectTimeout: connectTimeout, connectionsPerHost: connectionsPerHost,
            trustRoots: trustRoots ?? Self.environmentRoots)
        places = ["*": HostLimits(concurrent: connectionsPerHost, waiting: .max)]
        (self.proxies, self.decompressionRatio) = (proxies, decompressionRatio)
    }

    private static var environmentRoots: String? {
        ProcessInfo.processInfo.environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
    }

    deinit {
        clients.close()
    }

    /// Ends all exchanges and closes all connections.
    ///
    /// Later requests fail.
    public func shutdown() async {
        await clients.shutdown()
    }

    /// Sends a request, and returns once the head of the response has arrived, regardless of its status.
    ///
    /// A server may close a connection just as it is reused. An idempotent request (RFC 9110, section 9.2.2) with a
    /// body that can be resent is then repeated once, if no part of a response had arrived. The same applies to a
    /// request that an HTTP/2 server has not processed because it was closing the connection (RFC 9113, section 6.8).
    ///
    /// A response with a status of 300 or more that comes before the body was sent is returned; the rest of the body is
    /// not sent.
    ///
    /// - Throws: `network.failed`; `network.body` if the request's body cannot be read; `network.unsupported`,
    ///   `network.refused` and `network.pin-mismatch` before anything is sent; `CancellationError`.
    public func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        try require(request, options)
        var ready = try request.readyToSend()
        let decodes =
            options.decompresses && ready.headers["Accept-Encoding"] == nil && ready.headers["Range"] == nil
        if decodes {
            ready.headers.add("Accept-Encoding", "gzip, deflate")
        } else if options.decompresses, ready.headers["Accept-Encoding"] == nil {
            ready.headers.add("Accept-Encoding", "identity")
        }
        let scheme = ready.scheme, proxy = try proxies.proxy(for: ready)
        // The origin is normalised, because the library has a separate queue for each spelling.
        let origin = HTTPOrigin(ready.url).map { "\($0.scheme)://\($0.host):\($0.port)" } ?? ready.url
        let isRepeatable = HTTPRequest.idempotentMethods.contains(ready.method) && ready.body.isReplayable
        return try await places.run(ready, options, by: Alarms.shared) {
            try Task.checkCancellation()  // the library sends before it looks
            let isKept = isRepeatable && origins.mayHaveConnection(to: origin)
            let key = clients.key(scheme: scheme, proxy: proxy, tls: options.tls, origin: origin)
            defer {
                for failure in clients.takePinFailures(of: key) { options.pinMismatched?(failure.error(for: request)) }
            }
            let first = try await attempt(ready, to: origin, key, decodes) { error in
                isRepeatable && HTTPFailure.isUnprocessed(error) || isKept && HTTPFailure.isClosedBeforeResponse(error)
            }
            if let first { return first }
            guard var response = try await attempt(ready, to: origin, key, decodes, mayRepeat: { _ in false }) else {
                throw HTTPFailure.closed.error(for: ready)
            }
            response.timings.attempts = 2
            return response
        }
    }

    /// Sends a request once; returns `nil` if it failed with an error after which it may be repeated.
    private func attempt(
        _ request: HTTPRequest, to origin: String, _ key: ClientKey, _ decodes: Bool,
        mayRepeat: (any Error) -> Bool
    ) async throws -> HTTPStreamedResponse? {
        let upload = try Upload(request.body)
        do {
            let client = try clients.client(key)
            let response = try await client.client.execute(HTTPClientRequest(request, upload), deadline: .distantFuture)
            origins.answered(origin)
            return HTTPStreamedResponse(
                response, to: request, decodingUpTo: decodes ? decompressionRatio : nil, holding: client)
        } catch {
            try Task.checkCancellation()
            if let failure = upload?.failure { throw failure }
            if mayRepeat(error) { return nil }
            throw HTTPFailure(error).error(for: request)
        }
    }
}

/// The origins to which a connection may be kept open, so that a request may use one that its server has just closed.
///
/// The library does not report whether a connection is new.
final class PooledOrigins: Sendable {
    /// The time for which idle connections are kept open, with a margin.
    private static let lifetime = Duration.seconds(90)
    private static let limit = 1_000
    private let answers = Mutex<[String: ContinuousClock.Instant]>([:])

    func answered(_ origin: String) {
        let now = ContinuousClock.now
        answers.withLock { answers in
            answers[origin] = now
            guard answers.count > Self.limit else { return }
            answers = answers.filter { now - $0.value < Self.lifetime }
            if answers.count > Self.limit { answers = [origin: now] }  // others are then not repeated
        }
    }

    func mayHaveConnection(to origin: String) -> Bool {
        let now = ContinuousClock.now
        return answers.withLock { $0[origin].map { now - $0 < Self.lifetime } ?? false }
    }
}

extension HTTPClientRequest {
    fileprivate init(_ request: HTTPRequest, _ upload: Upload?) {
        self.init(url: request.url)
        method = HTTPMethod(rawValue: request.method)
        for field in request.headers.fields { headers.add(name: field.name, value: field.value) }
        if let upload {
            body = .stream(upload, length: upload.length.map { .known($0) } ?? .unknown)
        } else if let bytes = request.body.bytes, !bytes.isEmpty {
            body = .bytes(ByteBuffer(bytes: bytes))
        }
    }
}

extension HTTPStreamedResponse {
    fileprivate init(
        _ response: HTTPClientResponse, to request: HTTPRequest, decodingUpTo ratio: Int?, holding client: PooledClient
    ) {
        let reader = ResponseReader(response.body, of: request, holding: client)
        self.init(
            status: Int(response.status.code), headers: [:],
            version: response.version.major == 2 ? "HTTP/2" : "\(response.version)",
            body: HTTPBodyStream(cancel: reader.release) { try await reader.next() })
        for (name, value) in response.headers { headers.add(name, value) }
        guard let ratio, hasBody(for: request), let decoder = ContentDecoder(headers, ratio: ratio) else { return }
        reader.decoder = decoder
        (headers["Content-Encoding"], headers["Content-Length"]) = (nil, nil)
    }
}

/// The reader of a response's body; releasing its iterator ends the exchange.
///
/// `@unchecked`: its stream makes one call to `next` at a time, and none concurrently with `release`.
final class ResponseReader: @unchecked Sendable {
    private let request: HTTPRequest
    fileprivate var decoder: ContentDecoder?
    private var client: PooledClient?
    private var iterator: HTTPClientResponse.Body.AsyncIterator?

    init(_ body: HTTPClientResponse.Body, of request: HTTPRequest, holding client: PooledClient) {
        (self.request, self.client) = (request, client)
        iterator = body.makeAsyncIterator()
    }

    func next() async throws -> [UInt8]? {
        do {
            guard let buffer = try await iterator?.next() else {
                try Task.checkCancellation()
                try decoder?.finish()
                release()
                return nil
            }
            let bytes = Array(buffer: buffer)
            return try decoder?.decode(bytes) ?? bytes
        } catch {
            release()
            try Task.checkCancellation()
            throw HTTPFailure(error).error(for: request)
        }
    }

    @Sendable func release() { (iterator, client) = (nil, nil) }
}

/// A request's body as passed to the library, which pulls a chunk once the previous one has been written.
final class Upload: AsyncSequence, Sendable {
    typealias Element = ByteBuffer
    let length: Int64?
    private let stream: HTTPBodyStream
    private let failed = Mutex<(any Error)?>(nil)

    /// Opens a body; returns `nil` for an in-memory body, which the library accepts as a whole.
    init?(_ body: HTTPBody) throws {
        if body.bytes != nil { return nil }
        stream = try body.open()
        length = stream.length
    }

    /// The reason why the body could not be read, which the library's error does not include.
    var failure: (any Error)? { failed.withLock { $0 } }

    func makeAsyncIterator() -> Iterator { Iterator(upload: self, chunks: stream.makeAsyncIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let upload: Upload
        fileprivate var chunks: HTTPBodyStream.AsyncIterator

        mutating func next() async throws -> ByteBuffer? {
            do {
                return try await chunks.next().map { ByteBuffer(bytes: $0) }
            } catch {
                let failure = (error as? BackplaneError) ?? .bodyFailed(error)
                upload.failed.withLock { $0 = failure }
                throw failure
            }
        }
    }
}

extension BackplaneError {
    fileprivate static func bodyFailed(_ error: any Error) -> BackplaneError {
        BackplaneError(.networkBody, "the request's body failed before it was complete: \(error)")
    }
}
#endif

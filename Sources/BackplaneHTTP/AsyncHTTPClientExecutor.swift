#if Engines
import AsyncHTTPClient
import Backplane
public import BackplaneNetwork
import NIOCore
import NIOHTTP1

/// Carries requests out with AsyncHTTPClient, over HTTP/1.1 and, where a server offers it under TLS, HTTP/2.
///
/// ```swift
/// let http = AsyncHTTPClientExecutor()
/// let host = PluginHost(manifest: manifest, options: HostOptions(executors: [http]))
/// ```
///
/// Its connections are its own: idle ones are kept for a minute, and all are closed by ``shutdown()`` or when the executor is
/// released. Its threads are those of NIO's global event loop group.
///
/// One request is one exchange: no redirect is followed, nothing is retried, decoded, cached or kept as a cookie. All that
/// is decided above. Header fields arrive in their order, each as often as it was sent.
public final class AsyncHTTPClientExecutor: HTTPExecutor {
    public let schemes = ["http", "https"]
    private let client: AsyncHTTPClient.HTTPClient
    private let maximumBodySize: Int

    /// - Parameters:
    ///   - maximumBodySize: In bytes; a response with more is `network.too-large` and is not read on.
    ///   - connectTimeout: How long a request may wait for a connection, a free one or a new one.
    ///   - connectionsPerHost: How many exchanges one host is asked for at once over HTTP/1.1; more wait.
    public init(maximumBodySize: Int = 64 << 20, connectTimeout: Duration = .seconds(10), connectionsPerHost: Int = 64) {
        var configuration = AsyncHTTPClient.HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: TimeAmount(connectTimeout)), decompression: .disabled)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsPerHost
        configuration.connectionPool.retryConnectionEstablishment = false       // a closed port would take the whole timeout
        client = AsyncHTTPClient.HTTPClient(configuration: configuration)
        self.maximumBodySize = maximumBodySize
    }

    deinit {
        client.shutdown { _ in }        // the library stops the program over a client that was not; twice is an error, and harmless
    }

    /// Ends all exchanges and closes all connections; requests that come later fail.
    public func shutdown() async {
        try? await client.shutdown().get()
    }

    /// - Throws: `network.failed`, `network.too-large`; `network.refused` for what is no HTTP request; `CancellationError`.
    public func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        let ready = try request.readyToSend()
        try Task.checkCancellation()        // the library sends before it looks
        do {
            let response = try await client.execute(HTTPClientRequest(ready), deadline: .distantFuture)
            let body = try await response.body.collect(upTo: maximumBodySize)
            return HTTPResponse(status: Int(response.status.code), headers: HTTPHeaders(response.headers), body: Array(buffer: body))
        } catch {
            try Task.checkCancellation()
            throw HTTPFailure(error, limit: maximumBodySize).error(for: ready)
        }
    }
}

extension HTTPClientRequest {
    fileprivate init(_ request: HTTPRequest) {
        self.init(url: request.url)
        method = HTTPMethod(rawValue: request.method)
        for field in request.headers.fields { headers.add(name: field.name, value: field.value) }
        if !request.body.isEmpty { body = .bytes(ByteBuffer(bytes: request.body)) }
    }
}

extension BackplaneNetwork.HTTPHeaders {
    fileprivate init(_ headers: NIOHTTP1.HTTPHeaders) {
        self = [:]
        for (name, value) in headers { add(name, value) }
    }
}
#endif

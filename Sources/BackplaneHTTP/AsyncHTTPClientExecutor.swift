#if Engines
import AsyncHTTPClient
import Backplane
public import BackplaneNetwork
import NIOCore
import NIOHTTP1

/// An HTTP executor that uses AsyncHTTPClient, with HTTP/1.1 and, where a server offers it under TLS, HTTP/2.
///
/// ```swift
/// let http = AsyncHTTPClientExecutor()
/// let host = PluginHost(manifest: manifest, options: HostOptions(executors: [http]))
/// ```
///
/// The executor has connections of its own. Idle ones are kept for a minute; ``shutdown()`` or the release of the
/// executor closes all of them. Its threads are those of NIO's global event loop group.
///
/// One request is one exchange: redirects, retries, decoding, caching and cookies are left to the caller. Header fields
/// arrive in their order, each as often as it was sent.
public final class AsyncHTTPClientExecutor: HTTPExecutor {
    /// The schemes that are served: `http` and `https`.
    public let schemes = ["http", "https"]
    private let client: AsyncHTTPClient.HTTPClient
    private let maximumBodySize: Int

    /// Creates an executor with connections of its own.
    ///
    /// - Parameters:
    ///   - maximumBodySize: The limit in bytes. A larger response throws `network.too-large` and is not read further.
    ///   - connectTimeout: The time that a request may wait for a connection, whether free or new.
    ///   - connectionsPerHost: The greatest number of concurrent exchanges with one host over HTTP/1.1. Further ones
    ///     wait.
    public init(maximumBodySize: Int = 64 << 20, connectTimeout: Duration = .seconds(10), connectionsPerHost: Int = 64)
    {
        var configuration = AsyncHTTPClient.HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: TimeAmount(connectTimeout)),
            decompression: .disabled)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsPerHost
        configuration.connectionPool.retryConnectionEstablishment = false  // a closed port would take the whole timeout
        client = AsyncHTTPClient.HTTPClient(configuration: configuration)
        self.maximumBodySize = maximumBodySize
    }

    deinit {
        // A client that was not shut down traps when it is released; shutting down twice is a harmless error.
        client.shutdown { _ in }
    }

    /// Ends all exchanges and closes all connections.
    ///
    /// Later requests fail.
    public func shutdown() async {
        try? await client.shutdown().get()
    }

    /// Sends a request and returns the response, whatever its status.
    ///
    /// - Throws: `network.failed`; `network.too-large`; `network.refused` for an invalid request; `CancellationError`.
    public func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        let ready = try request.readyToSend()
        try Task.checkCancellation()  // the library sends before it looks
        do {
            let response = try await client.execute(HTTPClientRequest(ready), deadline: .distantFuture)
            let body = try await response.body.collect(upTo: maximumBodySize)
            return HTTPResponse(
                status: Int(response.status.code), headers: HTTPHeaders(response.headers), body: Array(buffer: body))
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

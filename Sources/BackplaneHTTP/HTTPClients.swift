#if Engines
import AsyncHTTPClient
import BackplaneExchange
import struct BackplaneNetwork.TLSSettings
import NIOCore
import NIOHTTPCompression
import NIOSSL
import Synchronization

/// The settings that AsyncHTTPClient has for a client rather than for a request.
struct ClientKey: Hashable, Sendable {
    var proxy: HTTPProxies.Proxy?
    /// Whether compressed responses are decoded.
    var decodes: Bool
    /// The settings of TLS for the request's host, if it has any.
    var tls: TLSSettings?
}

/// The clients of one executor, each made when it is first needed: one for each proxy and settings of TLS, with and
/// without decoding.
///
/// Their number is bounded by that of the proxies, of which the environment names one, and of the hosts with settings.
final class HTTPClients: Sendable {
    private struct State {
        var clients: [ClientKey: HTTPClient] = [:]
        var isOpen = true
    }
    private let connectTimeout: Duration
    private let connectionsPerHost: Int
    private let trustRoots: String?
    private let decompressionRatio: Int
    private let state = Mutex(State())

    init(connectTimeout: Duration, connectionsPerHost: Int, trustRoots: String?, decompressionRatio: Int) {
        (self.connectTimeout, self.connectionsPerHost) = (connectTimeout, connectionsPerHost)
        (self.trustRoots, self.decompressionRatio) = (trustRoots, decompressionRatio)
    }

    /// Returns the client with these properties.
    ///
    /// - Throws: If the clients were shut down.
    func client(_ key: ClientKey) throws -> HTTPClient {
        try state.withLock { state in
            if let client = state.clients[key] { return client }
            guard state.isOpen else { throw HTTPFailure.shutDown }
            let client = HTTPClient(configuration: configuration(key))
            state.clients[key] = client
            return client
        }
    }

    func shutdown() async {
        for client in take() { try? await client.shutdown().get() }
    }

    /// Shuts down without waiting; a client that was not shut down traps when it is released.
    func close() {
        for client in take() { client.shutdown { _ in } }
    }

    private func take() -> [HTTPClient] {
        state.withLock { state in
            defer { state = State(isOpen: false) }
            return Array(state.clients.values)
        }
    }

    private func configuration(_ key: ClientKey) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: TimeAmount(connectTimeout)),
            proxy: key.proxy.map(HTTPClient.Configuration.Proxy.init),
            decompression: key.decodes ? .enabled(limit: .ratio(decompressionRatio)) : .disabled)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsPerHost
        configuration.http2ConnectionDebugInitializer = CompactFrames.add
        configuration.connectionPool.retryConnectionEstablishment = false  // a closed port would take the whole timeout
        if trustRoots != nil || key.tls != nil {
            var tls = TLSConfiguration.makeClientConfiguration()
            if let roots = key.tls?.roots ?? trustRoots { tls.trustRoots = .file(roots) }
            switch key.tls?.minimum {
            case .tls12: tls.minimumTLSVersion = .tlsv12
            case .tls13: tls.minimumTLSVersion = .tlsv13
            case nil: break
            }
            configuration.tlsConfiguration = tls
        }
        return configuration
    }
}

extension HTTPClient.Configuration.Proxy {
    fileprivate init(_ proxy: HTTPProxies.Proxy) {
        self = .server(
            host: proxy.host, port: proxy.port,
            authorization: proxy.user.map { .basic(username: $0, password: proxy.password ?? "") })
    }
}
#endif

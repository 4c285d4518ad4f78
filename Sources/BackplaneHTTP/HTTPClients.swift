#if Engines
import AsyncHTTPClient
import BackplaneExchange
import struct BackplaneNetwork.TLSSettings
import Glibc
import NIOCore
import NIOSSL
import Synchronization

/// The settings that AsyncHTTPClient associates with a client rather than a request.
struct ClientKey: Hashable, Sendable {
    var proxy: HTTPProxies.Proxy?
    var tls: TLSSettings?
    /// The state of the file with the certificates to trust; `nil` for the certificates of the system.
    var roots: FileState?
    /// The states of the files with the client certificate, its key and the pins.
    var files: [FileState] = []
    /// The origin of the requests, if pin failures, which concern one origin, are only reported; otherwise `nil`.
    var origin: String?
}

/// A client, which is shut down when ``HTTPClients`` and the exchanges have released it.
final class PooledClient: Sendable {
    let client: HTTPClient
    let pins: PinCheck?

    init(_ client: HTTPClient, _ pins: PinCheck?) { (self.client, self.pins) = (client, pins) }

    // Does not wait. Releasing a client that was not shut down would trap.
    deinit { client.shutdown { _ in } }
}

/// The clients of one executor, created on demand: one for each proxy and TLS settings.
///
/// After certificates are replaced, a new client reads them. An unused client with its own settings is shut down when
/// the next one is created, if it has not been used for a while or there are too many.
final class HTTPClients: Sendable {
    fileprivate struct State {
        var clients: [ClientKey: (client: PooledClient, lastUse: ContinuousClock.Instant)] = [:]
        var isOpen = true
    }
    private let connectTimeout: Duration
    private let connectionsPerHost: Int
    private let trustRoots: String?
    /// The time after which an unused client with its own settings is shut down.
    private let unusedLimit: Duration
    /// The number of clients beyond which unused ones are shut down, the least recently used first.
    static let most = 32
    private let state = Mutex(State())

    init(
        connectTimeout: Duration, connectionsPerHost: Int, trustRoots: String?, unusedLimit: Duration = .seconds(60)
    ) {
        (self.connectTimeout, self.connectionsPerHost) = (connectTimeout, connectionsPerHost)
        (self.trustRoots, self.unusedLimit) = (trustRoots, unusedLimit)
    }

    func key(scheme: String, proxy: HTTPProxies.Proxy?, tls: TLSSettings?, origin: String? = nil) -> ClientKey {
        let roots = scheme == "https" ? tls?.roots ?? trustRoots : nil
        let files = [tls?.certificate, tls?.key].compactMap(\.self) + (tls?.pins ?? []).compactMap(\.path)
        return ClientKey(
            proxy: proxy, tls: tls, roots: roots.map(FileState.init(of:)), files: files.map(FileState.init(of:)),
            origin: tls?.reportsOnly == true ? origin : nil)
    }

    var count: Int { state.withLock { $0.clients.count } }

    func client(_ key: ClientKey) throws -> PooledClient {
        let (client, ended) = try state.withLock { state -> (PooledClient, [PooledClient]) in
            guard state.isOpen else { throw HTTPFailure.shutDown }
            if let client = state.clients[key]?.client {
                state.clients[key]!.lastUse = .now
                return (client, [])
            }
            let pins = try PinCheck(key.tls)
            let client = PooledClient(HTTPClient(configuration: try configuration(key, pins)), pins)
            let ended = state.takeUnused(since: .now - unusedLimit, beyond: Self.most - 1)
            state.clients[key] = (client, .now)
            return (client, ended)
        }
        withExtendedLifetime(ended) {}  // they are shut down outside of the lock
        return client
    }

    /// Returns the failures of pins that are to be reported for a client's origin, one for each connection.
    func takePinFailures(of key: ClientKey) -> [HTTPFailure] {
        guard key.origin != nil else { return [] }
        return state.withLock { $0.clients[key]?.client.pins }?.takeFailures() ?? []
    }

    func shutdown() async {
        for client in take() { try? await client.client.shutdown().get() }
    }

    /// Shuts down all clients without waiting, including the ones in use.
    func close() {
        for client in take() { client.client.shutdown { _ in } }
    }

    private func take() -> [PooledClient] {
        state.withLock { state in
            defer { state = State(isOpen: false) }
            return state.clients.values.map(\.client)
        }
    }

    private func configuration(_ key: ClientKey, _ pins: PinCheck?) throws -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: TimeAmount(connectTimeout)),
            proxy: key.proxy.map(HTTPClient.Configuration.Proxy.init))
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsPerHost
        // The library's tracing would send the trace to any host, and record queries.
        configuration.tracing.tracer = nil
        configuration.http1_1ConnectionDebugInitializer = DeferredClose.add
        configuration.http2ConnectionDebugInitializer = CompactFrames.add
        if let pins {
            configuration.http1_1ConnectionDebugInitializer = { channel in
                pins.check(channel).flatMap { DeferredClose.add(to: channel) }
            }
            configuration.http2ConnectionDebugInitializer = { channel in
                pins.check(channel).flatMap { CompactFrames.add(to: channel) }
            }
        }
        configuration.connectionPool.retryConnectionEstablishment = false  // a closed port would take the whole timeout
        if trustRoots != nil || key.tls != nil {
            var tls = TLSConfiguration.makeClientConfiguration()
            if let roots = key.tls?.roots ?? trustRoots { tls.trustRoots = .file(roots) }
            switch key.tls?.minimum {
            case .tls12: tls.minimumTLSVersion = .tlsv12
            case .tls13: tls.minimumTLSVersion = .tlsv13
            case nil: break
            }
            if let certificate = key.tls?.certificate { try tls.present(certificate, key: key.tls?.key ?? certificate) }
            configuration.tlsConfiguration = tls
        }
        return configuration
    }
}

extension TLSConfiguration {
    fileprivate mutating func present(_ certificate: String, key: String) throws(HTTPFailure) {
        do {
            certificateChain = try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) }
        } catch {
            throw .insecure("the client certificate `\(certificate)` cannot be read; expected PEM")
        }
        do {
            privateKey = .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
        } catch {
            throw .insecure(
                "the key `\(key)` of the client certificate cannot be read; expected PEM without a passphrase")
        }
    }
}

extension HTTPClients.State {
    /// Removes and returns unused clients with their own settings: clients last used before a given time, and the least
    /// recently used ones while there are more than `count` clients.
    fileprivate mutating func takeUnused(since time: ContinuousClock.Instant, beyond count: Int) -> [PooledClient] {
        // Settings may change; a client without settings stays valid.
        var unused = clients.keys.filter { $0.tls != nil || $0.roots != nil }
        unused.removeAll { !isKnownUniquelyReferenced(&clients[$0]!.client) }
        unused.sort { clients[$0]!.lastUse < clients[$1]!.lastUse }
        let ended = max(unused.prefix { clients[$0]!.lastUse <= time }.count, clients.count - count)
        return unused.prefix(ended).compactMap { clients.removeValue(forKey: $0)?.client }
    }
}

extension HTTPClient.Configuration.Proxy {
    fileprivate init(_ proxy: HTTPProxies.Proxy) {
        self = .server(
            host: proxy.host, port: proxy.port,
            authorization: proxy.user.map { .basic(username: $0, password: proxy.password ?? "") })
    }
}

/// The state of a file, which shows whether it was changed or replaced.
///
/// The state consists of metadata that the system reports without reading the file, at the cost of one `stat(2)` per
/// exchange.
struct FileState: Hashable, Sendable {
    private let device, inode: UInt64
    private let size: Int64
    private let changed: [Int]

    /// Creates the state of the file at a path; all missing files have the same state.
    init(of path: String) {
        var status = stat()
        _ = stat(path, &status)
        (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
        size = Int64(status.st_size)
        changed = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}
#endif

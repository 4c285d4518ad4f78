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
    /// The state of the file with the certificates to trust; `nil` for those of the system.
    var roots: FileState?
    /// The states of the files with the client certificate, its key and the pins.
    var files: [FileState] = []
    /// The origin of the requests, if failures of pins are only reported, which concern one origin; otherwise `nil`.
    var origin: String?
}

/// The clients of one executor, created on demand: one for each proxy and TLS settings.
///
/// Replaced certificates result in a new client, which reads them. An unused client with its own settings is shut down
/// when the next one is created, if it has not been used for a while or there are too many.
final class HTTPClients: Sendable {
    fileprivate struct Entry {
        let client: HTTPClient
        let pins: PinCheck?
        var uses = 0
        var lastUse = ContinuousClock.now
    }
    fileprivate struct State {
        var clients: [ClientKey: Entry] = [:]
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

    /// Returns the client with these properties, which is in use until the value is released.
    func client(_ key: ClientKey) throws -> ClientUse {
        let (client, ended) = try state.withLock { state -> (HTTPClient, [HTTPClient]) in
            guard state.isOpen else { throw HTTPFailure.shutDown }
            var ended: [HTTPClient] = []
            if state.clients[key] == nil {
                // A client that is taken has to be shut down: nothing after it may throw.
                let pins = try PinCheck(key.tls), configuration = try configuration(key, pins)
                ended = state.takeUnused(since: .now - unusedLimit, beyond: Self.most - 1)
                state.clients[key] = Entry(client: HTTPClient(configuration: configuration), pins: pins)
            }
            if key.isOfSettings { state.clients[key]!.uses += 1 }
            return (state.clients[key]!.client, ended)
        }
        for client in ended { client.shutdown { _ in } }
        return ClientUse(client, of: self, key)
    }

    /// Returns the failures of pins that are to be reported for a client's origin, one for each connection.
    func takePinFailures(of key: ClientKey) -> [HTTPFailure] {
        guard key.origin != nil else { return [] }
        return state.withLock { $0.clients[key]?.pins }?.takeFailures() ?? []
    }

    fileprivate func leave(_ key: ClientKey) {
        guard key.isOfSettings else { return }
        state.withLock { state in
            state.clients[key]?.uses -= 1
            state.clients[key]?.lastUse = .now
        }
    }

    func shutdown() async {
        for client in take() { try? await client.shutdown().get() }
    }

    /// Shuts down without waiting, because a client that was not shut down traps when it is released.
    func close() {
        for client in take() { client.shutdown { _ in } }
    }

    private func take() -> [HTTPClient] {
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
        // It would send the trace to any host, and record queries.
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
    /// Removes and returns unused clients with their own settings: those last used before a given time, and the least
    /// recently used ones while there are more clients than `count`.
    fileprivate mutating func takeUnused(since time: ContinuousClock.Instant, beyond count: Int) -> [HTTPClient] {
        let unused = clients.filter { key, entry in key.isOfSettings && entry.uses == 0 }
            .sorted { $0.value.lastUse < $1.value.lastUse }
        let ended = max(unused.prefix { $0.value.lastUse <= time }.count, clients.count - count)
        return unused.prefix(ended).map { key, entry in
            clients[key] = nil
            return entry.client
        }
    }
}

extension ClientKey {
    /// A Boolean value that indicates whether the client was created for TLS settings, which may change.
    fileprivate var isOfSettings: Bool { tls != nil || roots != nil }
}

/// The use of a client by one exchange, which ends with the value.
final class ClientUse: Sendable {
    let client: HTTPClient
    private let clients: HTTPClients
    private let key: ClientKey

    fileprivate init(_ client: HTTPClient, of clients: HTTPClients, _ key: ClientKey) {
        (self.client, self.clients, self.key) = (client, clients, key)
    }

    deinit { clients.leave(key) }
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
/// It consists of metadata that the system reports without reading the file, at the cost of one `stat(2)` per exchange.
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

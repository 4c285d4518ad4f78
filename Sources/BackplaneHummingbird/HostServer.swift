public import Backplane

extension BackplaneError.Code {
    /// A server cannot be started: it cannot listen at its address, or its certificate cannot be used.
    public static let serverFailed = Self(rawValue: "server.failed")
}

#if Engines
public import BackplaneHost
import BackplaneNetwork
import BackplaneRoutes
import Glibc
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
public import Logging
import NIOCore
import NIOSSL
public import ServiceLifecycle
import Synchronization

/// The host's own HTTP server: the routes of its managers, and its health and metrics if the settings name them.
///
/// ```swift
/// let host = PluginHost(manifest: manifest)
/// try await host.start()
/// let server = HostServer(host, ServerSettings(listen: "127.0.0.1:8080"))
/// let group = ServiceGroup(services: [server], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
/// try await group.run()
/// await host.stop()
/// ```
///
/// Start the host first, because the server does not. The server keeps running during swaps and changes of the
/// manifest. Of the manifest's `server`, only changed paths of managers take effect while it runs; all other changes
/// need a restart.
public final class HostServer: Service {
    private let host: PluginHost
    private let settings: ServerSettings
    private let logger: Logger
    private let metrics: ServerMetrics?
    private let reload: PageReload?
    private let screens: WebScreens?
    private let state = Mutex(State())
    /// The end of ``run()``.
    private let end = AsyncStream.makeStream(of: Never.self)

    private struct State {
        var group: ServiceGroup?
        /// The address, or the reason why the server does not listen; `nil` until one of them is known.
        var address: Result<String, any Error>?
        var waiting: [CheckedContinuation<String, any Error>] = []
    }

    /// Creates a server, which listens when it is run.
    ///
    /// - Parameters:
    ///   - host: The host, which the server neither starts nor stops.
    ///   - settings: The address, the limits and the certificate. Managers are mounted at the paths in `server.mount`
    ///     of the host's manifest, and otherwise at `/`.
    ///   - logger: The logger. Default: a logger that writes to the host's log.
    public convenience init(_ host: PluginHost, _ settings: ServerSettings, logger: Logger? = nil) {
        self.init(host, settings, logger: logger, reloadsPages: false)
    }

    /// Creates a server of screens, which listens when it is run, and closes all windows at its end.
    ///
    /// The server serves no routes: they need their own server, at another address.
    ///
    /// - Parameters:
    ///   - screens: The screens.
    ///   - settings: The address and the certificate.
    ///   - logger: The logger. Default: a logger that writes to the host's log.
    public convenience init(
        _ screens: WebScreens, _ settings: ServerSettings = ServerSettings(), logger: Logger? = nil
    ) {
        self.init(screens.host, settings, logger: logger, reloadsPages: false, screens: screens)
    }

    /// Creates a server that also reloads pages after each change of the host, or one of screens.
    package init(
        _ host: PluginHost, _ settings: ServerSettings, logger: Logger? = nil, reloadsPages: Bool,
        screens: WebScreens? = nil
    ) {
        (self.host, self.settings, self.screens) = (host, settings, screens)
        self.logger = logger ?? Logger(label: "backplane.server") { _ in HostLogHandler(host.log) }
        metrics = settings.metrics == nil ? nil : ServerMetrics()
        reload = reloadsPages ? PageReload() : nil
    }

    /// Listens and answers requests, until the service group shuts down or the task is cancelled.
    ///
    /// A graceful shutdown closes idle connections, answers the requests in flight, and ends streams. Requests and
    /// streams that have not ended within the host's limit for stops are cancelled.
    ///
    /// - Throws: `server.failed` if the server cannot listen at its address, or its certificate cannot be used.
    public func run() async throws {
        defer {
            state.withLock { $0.group = nil }
            end.continuation.finish()
        }
        do {
            var configuration = ServiceGroupConfiguration(services: [try application()], logger: logger)
            configuration.maximumGracefulShutdownDuration = host.stopLimit
            let group = ServiceGroup(configuration: configuration)
            state.withLock { $0.group = group }
            let events = host.events
            let watch = Task { await follow(events) }
            defer { watch.cancel() }
            try await withGracefulShutdownHandler {
                try await group.run()
            } onGracefulShutdown: {
                self.reload?.end()
            }
            settle(.failure(CancellationError()))
            await screens?.close()
        } catch {
            await screens?.close()
            let isListening = if case .success = state.withLock(\.address) { true } else { false }
            let error = isListening || error is CancellationError ? error : failure(error)
            settle(.failure(error))
            throw error
        }
    }

    /// Waits until the server listens, and returns its address, such as `127.0.0.1:41233`.
    ///
    /// - Throws: The error that prevents the server from listening.
    package func listening() async throws -> String {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<String, any Error>) in
            let address = state.withLock { state in
                if state.address == nil { state.waiting.append(continuation) }
                return state.address
            }
            if let address { continuation.resume(with: address) }
        }
    }

    /// Shuts down gracefully, and returns when ``run()`` has ended.
    ///
    /// - Parameter limit: The time after which the function returns, even if a handler has not ended. Default: shortly
    ///   after handlers are cancelled.
    package func stop(within limit: Duration? = nil) async {
        reload?.end()
        await state.withLock(\.group)?.triggerGracefulShutdown()
        let timer = Task {
            try? await Task.sleep(for: limit ?? host.stopLimit + .seconds(1))
            end.continuation.finish()
        }
        for await _ in end.stream {}
        timer.cancel()
    }

    /// The number of routes that the server mounts.
    package var routeCount: Int {
        let table = host.routing.table
        return table.managers.filter { table.server.prefix(of: $0.manager) != nil }
            .reduce(0) { $0 + $1.annotation.routes.count }
    }

    private func settle(_ address: Result<String, any Error>) {
        let waiting = state.withLock { state in
            if state.address == nil { state.address = address }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(with: address) }
    }

    /// Counts the changes of the host, reloads pages, and logs a warning about settings that a running server does not
    /// adopt.
    private func follow(_ events: HostEvents) async {
        var settings = fixedSettings
        for await event in events {
            metrics?.note(event)
            reload?.note(event)
            let now = fixedSettings
            defer { settings = now }
            // Before its start, a host may not have loaded its manifest.
            if case .started = event.kind { continue }
            guard now != settings, screens == nil else { continue }
            logger.warning("the manifest's `server` has changed; the change takes effect when the server is restarted")
        }
    }

    /// The settings of the active manifest, without the paths of managers, which the server follows.
    private var fixedSettings: ServerSettings? {
        var settings = host.routing.table.server
        settings?.mount = nil
        return settings
    }
}

/// The parts of the server.
extension HostServer {
    /// The time after which a connection is closed if its client does not complete a request.
    private static let idleLimit = TimeAmount.seconds(60)
    /// The maximum size of the head of a request, in bytes.
    private static let headLimit = 64 << 10
    private static let connectionLimit = 20_000
    /// The number of files that are left to the host and its components.
    private static let spareFiles = 256

    private func application() throws(BackplaneError) -> some Service {
        let (host, port) = try ServerSettings.address(settings.listen)
        let channel = HTTP1Channel.Configuration(
            additionalChannelHandlers: [UnreadAnswer.Installer(), ExpectedContinue()],
            idleTimeout: Self.idleLimit,
            httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
                maxHeaderFieldSize: Self.headLimit, maxHeaderListSize: Self.headLimit))
        let plain = HTTPServerBuilder { responder in
            AcceptedConnections(base: HTTP1Channel(responder: responder, configuration: channel))
        }
        return Application(
            responder: ServerResponder(
                host: self.host, settings: settings, metrics: metrics, reload: reload, screens: screens, logger: logger),
            server: try settings.tls.map { tls throws(BackplaneError) in try tls.encrypting(plain) } ?? plain,
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port), serverName: nil, backlog: 1_024,
                availableConnectionsDelegate: MaximumAvailableConnections(Self.connections, logger: logger)),
            onServerRunning: { [self] channel in
                settle(.success(channel.localAddress?.text ?? settings.listen))
            }, logger: logger)
    }

    /// The maximum number of open connections; further clients wait until one is closed.
    private static var connections: Int {
        var files = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files) == 0 else { return connectionLimit }
        return min(connectionLimit, max(Int(clamping: files.rlim_cur) - spareFiles, spareFiles))
    }

    /// Returns the error for an address where the server cannot listen.
    private func failure(_ error: any Error) -> BackplaneError {
        let reason: String
        switch error {
        case let error as BackplaneError: return error
        case let error as IOError where error.errnoCode == EADDRINUSE:
            reason = "another program listens at \(settings.listen); stop it, or listen at another address"
        case let error as IOError where error.errnoCode == EADDRNOTAVAIL:
            reason = "\(settings.listen) is no address of this machine; listen at one, or at 0.0.0.0 for all of them"
        case let error as IOError where error.errnoCode == EACCES:
            reason = "this user may not listen at \(settings.listen); listen at a port from 1024"
        case let error as IOError:
            reason = "the server cannot listen at \(settings.listen): \(String(cString: strerror(error.errnoCode)))"
        case is SocketAddressError, is SocketAddressError.UnknownHost:
            reason = "the name in \(settings.listen) has no address; listen at the address of an interface"
        default: reason = "the server cannot listen at \(settings.listen): \(error)"
        }
        return BackplaneError(.serverFailed, reason)
    }
}

extension ServerTLS {
    /// Returns a server that encrypts the connections of another.
    ///
    /// - Throws: `server.failed` with the file that cannot be used.
    fileprivate func encrypting(_ server: HTTPServerBuilder) throws(BackplaneError) -> HTTPServerBuilder {
        let chain: [NIOSSLCertificate], key: NIOSSLPrivateKey
        do { chain = try NIOSSLCertificate.fromPEMFile(certificate) } catch {
            throw unusable(certificate, "a certificate chain in PEM")
        }
        do { key = try NIOSSLPrivateKey(file: self.key, format: .pem) } catch {
            throw unusable(self.key, "a private key in PEM, without a passphrase")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        do {
            _ = try NIOSSLContext(configuration: configuration)
            return try .tls(server, tlsConfiguration: configuration)
        } catch {
            throw BackplaneError(
                .serverFailed, "the key in this file does not belong to the certificate in \(certificate)", at: self.key
            )
        }
    }

    private func unusable(_ path: String, _ expected: String) -> BackplaneError {
        let reason = access(path, R_OK) == 0 ? "the file has none" : String(cString: strerror(errno))
        return BackplaneError(.serverFailed, "the server needs \(expected): \(reason)", at: path)
    }
}

/// The responder to all requests, with answers of the server itself, of plugins, or a problem.
private struct ServerResponder: HTTPResponder {
    struct Context: InitializableFromSource {
        let remoteAddress: String?
        init(source: ApplicationRequestContextSource) { remoteAddress = source.channel.remoteAddress?.text }
    }
    let host: PluginHost
    let settings: ServerSettings
    let metrics: ServerMetrics?
    let reload: PageReload?
    let screens: WebScreens?
    let routes: RouteServer
    private static let hostField = HTTPField.Name(parsed: "host")!

    init(
        host: PluginHost, settings: ServerSettings, metrics: ServerMetrics?, reload: PageReload?, screens: WebScreens?,
        logger: Logger
    ) {
        (self.host, self.settings, self.metrics, self.reload) = (host, settings, metrics, reload)
        self.screens = screens
        var observer: RouteObserver?
        if let metrics { observer = { metrics.note(manager: $0, route: $1, status: $2, time: $3) } }
        routes = RouteServer(
            host, mounting: .manifest, limits: settings.limits, observer: observer, logger: logger)
    }

    func respond(to request: Request, context: Context) async throws -> Response {
        var response = await answer(to: request, from: context.remoteAddress)
        // No further bytes on such a connection are read as a request.
        if request.method == .connect || request.headers.contains(.upgrade) { response.headers[.connection] = "close" }
        return response
    }

    private func answer(to request: Request, from remoteAddress: String?) async -> Response {
        // The fields do not contain the first `Host` (RFC 9112, section 3.2).
        guard !request.headers.contains(Self.hostField) else {
            let problem = RouteProblem(400, "expected one field `Host`, found several")
            return Response(problem, isHead: request.method == .head)
        }
        if let screens {
            if let answer = await screens.answer(to: request, isEncrypted: settings.tls != nil) { return answer }
            return await routes.refuse(request, RouteProblem(404))
        }
        if let own = await ownAnswer(to: request) { return own }
        return await routes.respond(to: request, remoteAddress: remoteAddress)
    }

    /// Returns the answer of the server itself; `nil` for any other path.
    private func ownAnswer(to request: Request) async -> Response? {
        guard settings.health != nil || metrics != nil || reload != nil, let target = request.head.path,
            request.headers[.contentLength] ?? "0" == "0", !request.headers.contains(.transferEncoding)
        else { return nil }
        let path = String(target.prefix { $0 != "?" })
        let answer: Response
        switch path {
        case settings.health:
            let health = await HealthCheck(of: host)
            let status = health.status == .up ? HTTPResponse.Status.ok : .serviceUnavailable
            answer = Response(status, "application/json", health.json)
        case settings.metrics:
            guard let metrics else { return nil }
            answer = Response(.ok, MetricsText.mediaType, await metrics.text(of: host))
        case PageReload.scriptPath where reload != nil:
            answer = Response(.ok, "text/javascript; charset=utf-8", PageReload.script)
        case PageReload.eventsPath:
            guard let reload else { return nil }
            if request.method == .get { return reload.stream(to: request) }
            answer = Response(.ok, "text/event-stream", "")
        default: return nil
        }
        switch request.method {
        case .get: return answer
        case .head: return answer.createHeadResponse()
        default: return Response(RouteProblem(405, headers: ["Allow": "GET, HEAD"]))
        }
    }
}

extension Response {
    /// Creates an answer of the server itself, which is not to be stored.
    fileprivate init(_ status: HTTPResponse.Status, _ type: String, _ text: String) {
        self.init(
            status: status, headers: [.contentType: type, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
#endif

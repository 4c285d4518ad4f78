public import Backplane
import BackplaneDocuments
public import BackplaneHost
import Glibc
import Synchronization

/// A Unix socket through which a running host is controlled, for example by the `backplane` tool.
///
/// ```swift
/// let host = PluginHost(manifest: ManifestDocument(contentsOf: "backplane.json"))
/// let control = try ControlSocket(serving: host)
/// defer { control.close() }
/// ```
///
/// Only requests from processes of the same user and of root are answered; no network port is opened. Requests are
/// answered on separate threads, so that plugins that occupy Swift's thread pool do not delay them. The socket retains
/// the host.
public final class ControlSocket: Sendable {
    /// The absolute path of the socket.
    public let path: String
    private let server: ControlServer

    /// Creates a socket for a host and starts to listen.
    ///
    /// - Parameters:
    ///   - host: The host that answers the requests.
    ///   - folder: The folder in which to create the socket; it is created with mode 0700 if it does not exist. By
    ///     default, it is the folder that the tool searches: `$XDG_RUNTIME_DIR/backplane` or, if that variable does not
    ///     name a usable folder, `backplane-<user id>` in the temporary folder.
    ///   - path: The path of the socket, in a folder that only this user can write to; the tool finds it with
    ///     `--socket`. By default, the socket has a unique name in `folder`.
    ///   - requests: The requests that the program answers in addition to the standard requests of every host.
    /// - Throws: `control.unusable` if the folder cannot be used or the system cannot create a thread.
    public convenience init(
        serving host: PluginHost, in folder: String? = nil, at path: String? = nil, requests: [ControlRequest] = []
    ) throws(BackplaneError) {
        try self.init(serving: host, in: folder, at: path, requests: requests, limits: ControlLimits())
    }

    init(
        serving host: PluginHost, in folder: String?, at socket: String? = nil, requests: [ControlRequest],
        limits: ControlLimits
    ) throws(BackplaneError) {
        let folder = socket.map { ControlFolder(of: $0) } ?? ControlFolder(folder), listener = try folder.listen()
        path = listener.path
        server = ControlServer(host, listener, in: folder, ControlRequest.ofEveryHost + requests, limits)
        guard HostThread.tryStart("bp-control", { [server] in server.run() }) else {
            listener.close()
            throw ControlFolder.unusable(path, "cannot be served: the system cannot create more threads")
        }
    }

    deinit { close() }

    /// Stops accepting requests and removes the socket; requests in progress are still answered.
    public func close() { server.close() }

    /// Answers the requests in progress with `host.stopped`, and waits until the answers have been sent.
    ///
    /// Call this once the host has stopped:
    ///
    /// ```swift
    /// control.close()
    /// await host.stop()
    /// let left = await control.finish()
    /// ```
    ///
    /// - Returns: The names of the requests that could not be answered within the limit.
    @discardableResult
    public func finish(within limit: Duration = .seconds(5)) async -> [String] {
        await withCheckedContinuation { continuation in
            let finish = { @Sendable [server] in continuation.resume(returning: server.finish(within: limit)) }
            if !HostThread.tryStart("bp-control", finish) { finish() }
        }
    }
}

/// The limits on one client, and on all of them together, so that none can block the others.
struct ControlLimits: Sendable {
    /// The maximum size of a request, in bytes.
    var request = ControlProtocol.requestLimit
    /// The maximum size of all requests together, in bytes, not counting the first chunk of each.
    var memory = ControlProtocol.requestLimit * 3 / 2
    /// The size of a request's first chunk, for which memory is always available.
    var beginning = ControlProtocol.chunk
    /// The time within which a request must arrive.
    var reading = Duration.seconds(10)
    /// The time within which a client must read an answer, unless it is a lasting one.
    var writing = ControlProtocol.writingLimit
    /// The time within which a client must read each line of a lasting answer, which a user may be viewing.
    var element = Duration.seconds(600)
    /// The maximum number of connections; an additional one closes the oldest that has not sent its request.
    var clients = 256
    /// The maximum number of requests that are answered concurrently.
    var connections = 16
    /// The number of additional places for recovery requests, such as a rollback.
    var reserved = 2
    /// The maximum number of concurrent requests whose duration the client determines.
    var lasting = 64
    /// The time for which an additional request waits for a place, or for memory.
    var waiting = Duration.seconds(2)
    /// The maximum number of waiting requests, from which recovery requests are exempt.
    var queue = 64
    /// The maximum number of abandoned calls, each of which occupies a thread because its plugin does not return.
    var strays = 64
}

/// The places and the memory of the requests that are answered concurrently.
///
/// A few places are reserved for recovery requests, such as a rollback, so that other requests cannot block them.
/// Lasting requests are counted separately, so that they do not block other requests.
final class ControlGate: Sendable {
    private struct State {
        var requests = 0
        var lasting = 0
        var waiting = 0
        /// The number of bytes that large requests have reserved.
        var memory = 0
        var isClosed = false
    }
    private let state = Monitor(State())
    private let limits: ControlLimits

    init(_ limits: ControlLimits) { self.limits = limits }

    /// Waits for a place for a limited time.
    ///
    /// - Throws: `control.busy` if there is no place, or `host.stopped`.
    func enter(_ request: ControlRequest) throws(BackplaneError) {
        let deadline = Deadline.now + limits.waiting, kind = kind(of: request), queue = limits.queue
        let places =
            request.isLasting ? limits.lasting : limits.connections + (request.endsTrouble ? limits.reserved : 0)
        var isWaiting = false
        let refusal: BackplaneError? = state.wait { state in
            if isWaiting { state.waiting -= 1 }
            isWaiting = false
            if state.isClosed { return .done(.hostStops) }
            let count = state[keyPath: kind]
            if count < places {
                state[keyPath: kind] += 1
                return .done(nil)
            }
            guard !request.isLasting, .now < deadline, request.endsTrouble || state.waiting < queue else {
                return .done(
                    BackplaneError(
                        .controlBusy,
                        "\(count) \(request.isLasting ? "lasting requests" : "requests") are in progress, which is the "
                            + "limit; try again when one has ended"))
            }
            state.waiting += 1
            isWaiting = true
            return .until(deadline)
        }
        if let refusal { throw refusal }
    }

    func leave(_ request: ControlRequest) { state.withLock { $0[keyPath: kind(of: request)] -= 1 } }

    private func kind(of request: ControlRequest) -> WritableKeyPath<State, Int> {
        request.isLasting ? \.lasting : \.requests
    }

    /// Waits for memory for a limited time.
    ///
    /// - Throws: `control.busy` if there is none.
    func reserve(_ bytes: Int) throws(BackplaneError) {
        let deadline = Deadline.now + limits.waiting, limit = limits.memory
        let isReserved = state.wait { state in
            guard state.memory + bytes > limit else {
                state.memory += bytes
                return .done(true)
            }
            return deadline <= .now ? .done(false) : .until(deadline)
        }
        guard !isReserved else { return }
        throw BackplaneError(
            .controlBusy,
            "requests in progress already use the \(limit >> 20) MB that they may use together; try again when one "
                + "has ended")
    }

    func release(_ bytes: Int) { state.withLock { $0.memory -= bytes } }

    /// Refuses all further requests.
    func close() { state.withLock { $0.isClosed = true } }
}

extension BackplaneError {
    static var hostStops: BackplaneError { BackplaneError(.hostStopped, "the host has stopped or is stopping") }
}

/// The listener of a control socket, which serves each connection on a separate thread.
///
/// The thread that accepts connections does not wait for any of them.
final class ControlServer: Sendable {
    let host: PluginHost
    let limits: ControlLimits
    let gate: ControlGate
    private let folder: ControlFolder
    private let listener: LocalListener
    private let requests: [String: ControlRequest]
    private let startedAt: Double
    private struct State {
        /// The open connections, the oldest first.
        var connections: [ControlConnection] = []
        /// A Boolean value that indicates whether there may be connections that have not been accepted yet.
        var isAccepting = true
        var hasStopped = false
    }
    private let state = Monitor(State())
    /// The number of abandoned calls that have not ended.
    let strays = Atomic(0)
    /// The interval at which the existence of the socket file is checked.
    private static let watch = Duration.seconds(2)

    init(
        _ host: PluginHost, _ listener: LocalListener, in folder: ControlFolder, _ requests: [ControlRequest],
        _ limits: ControlLimits
    ) {
        (self.host, self.listener, self.folder, self.limits) = (host, listener, folder, limits)
        gate = ControlGate(limits)
        // A program may replace one of the standard requests.
        self.requests = Dictionary(requests.map { ($0.name, $0) }) { $1 }
        startedAt = .secondsSince1970
    }

    func run() {
        while true {
            switch listener.accept(within: Self.watch) {
            case .connection(let socket): serve(socket)
            case .nothing: folder.restore(listener)
            case .closed: return state.withLock { $0.isAccepting = false }
            }
        }
    }

    func close() { listener.close() }

    var hasStopped: Bool { state.withLock { $0.hasStopped } }

    /// Answers the requests in progress with `host.stopped`, and waits until the answers have been sent.
    ///
    /// - Returns: The names of the requests that could not be answered in time.
    func finish(within limit: Duration) -> [String] {
        close()
        gate.close()
        let open = state.withLock { state in
            state.hasStopped = true
            return state.connections
        }
        for connection in open { connection.hostHasStopped() }
        let deadline = Deadline.now + limit
        // Clients that connected earlier are refused, but read the reason only while this process runs.
        state.wait { state in !state.isAccepting || deadline <= .now ? .done(()) : .until(deadline) }
        let left = state.wait { state in
            state.connections.isEmpty || deadline <= .now ? .done(state.connections) : .until(deadline)
        }
        return left.map { $0.request ?? "a request that has not arrived" }
    }

    private func serve(_ socket: LocalSocket) {
        let connection = ControlConnection(socket, of: self)
        do throws(BackplaneError) { try admit(connection) } catch { return connection.refuse(error) }
        let begins = HostThread.tryStart("bp-request") { [self] in
            connection.serve()
            remove(connection)
        }
        guard !begins else { return }
        remove(connection)
        connection.refuse(BackplaneError(.controlBusy, "the system cannot create more threads for the host"))
    }

    /// Adds a connection, replacing the oldest one without a request if there are too many.
    private func admit(_ connection: ControlConnection) throws(BackplaneError) {
        let limit = limits.clients
        let result: Result<ControlConnection?, BackplaneError> = state.withLock { state in
            if state.hasStopped { return .failure(.hostStops) }
            var slow: ControlConnection?
            if state.connections.count >= limit {
                guard let index = state.connections.firstIndex(where: \.isReading) else {
                    return .failure(
                        BackplaneError(.controlBusy, "\(limit) clients are connected, which is the limit"))
                }
                slow = state.connections.remove(at: index)
            }
            state.connections.append(connection)
            return .success(slow)
        }
        try result.get()?.interruptReading(
            BackplaneError(.controlBusy, "\(limit) clients are connected, and this one has not sent its request"))
    }

    private func remove(_ connection: ControlConnection) {
        state.withLock { $0.connections.removeAll { $0 === connection } }
    }

    var greeting: HostGreeting {
        let source = host.manifestSource
        return HostGreeting(
            protocol: ControlProtocol.number, version: HostVersion.text, process: getpid(),
            manifest: source.path.map(FilePath.absolute),
            environment: source.environment, startedAt: startedAt, requests: names)
    }

    /// Returns the handler for a request.
    ///
    /// - Throws: `control.protocol` or `control.unknown-request`.
    func request(for head: ControlText.Head) throws(BackplaneError) -> ControlRequest {
        if let number = head.protocol, number != ControlProtocol.number {
            throw BackplaneError(
                .controlProtocol,
                "this host is Backplane \(HostVersion.text) and supports protocol \(ControlProtocol.number), but the "
                    + "request uses protocol \(number); use the version of the tool that matches the host"
            )
        }
        guard let request = requests[head.request] else {
            let suggestions = NameSuggestions(for: head.request, among: names)
            throw BackplaneError(
                .controlUnknownRequest,
                "unknown request `\(head.request)`; \(suggestions.question ?? "expected one of: \(suggestions.list)")")
        }
        return request
    }

    private var names: [String] { (requests.keys + [HelloRequest.name]).sorted() }
}

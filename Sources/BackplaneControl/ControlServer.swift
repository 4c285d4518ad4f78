import Backplane
import BackplaneDocuments
import BackplaneHost
import Glibc
import Synchronization

/// The listener of a control socket, which serves each connection on a separate thread.
///
/// The thread that accepts connections does not wait for any of them.
final class ControlServer: Sendable {
    let host: PluginHost
    let limits: ControlLimits
    let places: ControlPlaces
    let memory: RequestMemory
    private let folder: ControlFolder
    private let listener: LocalListener
    private let requests: [String: ControlRequest]
    private let startedAt: Double
    private struct State {
        /// The open connections, the oldest first.
        var connections: [ControlConnection] = []
        /// A Boolean value that indicates whether clients may still be connected that were not accepted yet.
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
        (places, memory) = (ControlPlaces(limits), RequestMemory(bytes: limits.memory))
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

    /// A Boolean value that indicates whether the host has stopped.
    var hasStopped: Bool { state.withLock { $0.hasStopped } }

    /// Answers the requests in progress with `host.stopped`, and waits until the answers have been sent.
    ///
    /// - Returns: The names of the requests that could not be answered in time.
    func finish(within limit: Duration) -> [String] {
        close()
        places.close()
        let open = state.withLock { state in
            state.hasStopped = true
            return state.connections
        }
        for connection in open { connection.hostHasStopped() }
        let deadline = Deadline.now + limit
        // Clients that connected before the end are refused, and read the reason only if this process still runs.
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

import Backplane
import BackplaneHost
import Glibc
import Synchronization

/// The listener of a control socket, which serves a limited number of connections, each on its own thread.
final class ControlServer: Sendable {
    let host: PluginHost
    let limits: ControlLimits
    private let listener: LocalListener
    private let requests: [String: ControlRequest]
    private let startedAt: Double
    private let connections = Monitor(0)
    /// The number of abandoned calls that have not ended.
    let strays = Atomic(0)

    init(_ host: PluginHost, _ listener: LocalListener, _ requests: [ControlRequest], _ limits: ControlLimits) {
        (self.host, self.listener, self.limits) = (host, listener, limits)
        // A program may replace one of the standard requests.
        self.requests = Dictionary(requests.map { ($0.name, $0) }) { $1 }
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        startedAt = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    func run() {
        while let socket = listener.accept() { serve(socket) }
    }

    func close() { listener.close() }

    private func serve(_ socket: LocalSocket) {
        let connection = ControlConnection(socket, of: self)
        guard takesPlace() else {
            return connection.refuse(
                "\(limits.connections) requests are in progress, which is the limit; try again when one has ended")
        }
        let begins = HostThread.tryStart("bp-request") {
            connection.serve()
            self.connections.withLock { $0 -= 1 }
        }
        guard !begins else { return }
        connections.withLock { $0 -= 1 }
        connection.refuse("the system cannot create more threads for the host")
    }

    /// Waits for a free connection for a limited time, during which none is accepted; returns whether there is one.
    private func takesPlace() -> Bool {
        let deadline = Deadline.now + limits.waiting
        return connections.wait { count in
            guard count >= limits.connections else {
                count += 1
                return .done(true)
            }
            return deadline <= .now ? .done(false) : .until(deadline)
        }
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
                "this host is of Backplane \(HostVersion.text) and speaks protocol \(ControlProtocol.number), the request is of protocol \(number); use a tool of the host's version"
            )
        }
        guard let request = requests[head.request] else {
            throw BackplaneError(
                .controlUnknownRequest,
                "unknown request `\(head.request)`; expected one of: \(NameSuggestions(for: head.request, among: names).list)"
            )
        }
        return request
    }

    private var names: [String] { (requests.keys + [HelloRequest.name]).sorted() }
}

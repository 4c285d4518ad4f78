import Backplane
import BackplaneHost
import Glibc
import Synchronization

/// A connection to a control socket, which reads a request and answers it, regardless of the client's behaviour.
final class ControlConnection: Sendable {
    private let socket: LocalSocket
    private let server: ControlServer
    private var limits: ControlLimits { server.limits }
    private let isLost = Atomic(false)
    private enum Stage: Sendable {
        case reading
        /// Reading was interrupted for this reason.
        case interrupted(BackplaneError)
        case read
        case working(ControlWork)
    }
    private struct State {
        var stage = Stage.reading
        var request: String?
    }
    private let state = Mutex(State())
    /// The lock that is held during the writing of a line, because a request may end while an element is being written.
    private let writing = Mutex(())

    init(_ socket: LocalSocket, of server: ControlServer) {
        (self.socket, self.server) = (socket, server)
    }

    var isReading: Bool { state.withLock { if case .reading = $0.stage { true } else { false } } }

    /// The name of the request; `nil` until it is known.
    var request: String? { state.withLock { $0.request } }

    /// Answers with the reason why no request is accepted.
    func refuse(_ error: BackplaneError) { send(ControlText.error(error), within: .seconds(1)) }

    /// Stops reading the request, and reports the reason to the client.
    func interruptReading(_ error: BackplaneError) {
        let isReading = state.withLock { state in
            guard case .reading = state.stage else { return false }
            state.stage = .interrupted(error)
            return true
        }
        if isReading { socket.endReading() }
    }

    /// Answers the request with `host.stopped`, unless it has been answered.
    func hostHasStopped() {
        interruptReading(.hostStops)
        if case .working(let work) = state.withLock({ $0.stage }) { work.abandon(.hostStops) }
    }

    func serve() {
        var memory = 0
        defer {
            server.gate.release(memory)
            // Work that was abandoned may keep the connection for long.
            socket.hangUp()
        }
        do throws(BackplaneError) {
            try requireTrust()
            guard let bytes = try read(&memory) else { return }
            let head = try ControlText.head(of: bytes)
            state.withLock { $0.request = head.request }
            if head.request == HelloRequest.name {
                send(ControlText.result(try JSON.encode(server.greeting, failing: .controlFailed)))
                return
            }
            let request = try server.request(for: head)
            try server.gate.enter(request)
            // A client that does not read its answer keeps its place.
            defer { server.gate.leave(request) }
            let outcome = Result { () throws(BackplaneError) in try self.outcome(of: request, bytes) }
            // A user may be viewing the last element.
            send(ControlText.answer(outcome), within: request.isLasting ? limits.element : nil)
        } catch {
            send(ControlText.error(error))
        }
    }

    private func outcome(of request: ControlRequest, _ bytes: [UInt8]) throws(BackplaneError) -> [UInt8] {
        if request.endsWithClient { try requireRoomForStrays() }
        let server = server
        let work = try ControlWork(
            elementLimit: limits.element, reportLimit: request.isLasting ? limits.element : .seconds(1),
            countStrays: { server.strays.add($0, ordering: .relaxed) }
        ) { self.send($0, within: $1) }
        state.withLock { $0.stage = .working(work) }
        defer { state.withLock { $0.stage = .read } }  // the work refers to this connection
        if server.hasStopped { throw .hostStops }
        let begins = work.start {
            do throws(BackplaneError) { return .success(try await request.answer(server.host, bytes, work)) } catch {
                return .failure(error)
            }
        }
        guard begins else { throw BackplaneError(.controlBusy, "the system cannot create more threads for the host") }
        return try work.wait(for: request.endsWithClient ? socket : nil).get()
    }

    private func requireRoomForStrays() throws(BackplaneError) {
        let strays = server.strays.load(ordering: .relaxed)
        guard strays >= limits.strays else { return }
        throw BackplaneError(
            .controlBusy,
            "\(strays) abandoned calls have not returned, and each occupies a thread; no further calls are accepted on this socket"
        )
    }

    private func requireTrust() throws(BackplaneError) {
        let user = socket.peerUser
        guard user != geteuid(), user != 0 else { return }
        throw BackplaneError(
            .controlForbidden,
            "only user \(geteuid()), who runs this host, and root may control it, not user \(user.map { "\($0)" } ?? "unknown")"
        )
    }

    /// Returns everything before the first newline, or `nil` if nothing was sent.
    ///
    /// - Parameter memory: The size of the memory reserved for the request, which this function sets.
    private func read(_ memory: inout Int) throws(BackplaneError) -> [UInt8]? {
        let deadline = Deadline.now + limits.reading
        var lines = LineReader(socket)
        while true {
            do throws(SystemError) { try lines.read(until: deadline) } catch {
                guard error.number == ETIMEDOUT else { return nil }
                throw BackplaneError(
                    .controlMalformed,
                    "expected a request within \(limits.reading), found \(lines.bytes.count) bytes without a final newline"
                )
            }
            let count = lines.bytes.count
            try makeRoom(for: count, &memory)
            if let line = lines.line() {
                try finishReading()
                return line
            }
            if lines.isEnded { try finishReading() }
            guard count <= limits.request else {
                throw BackplaneError(
                    .controlMalformed,
                    "expected a request of at most \(limits.request >> 20) MB that ends with a newline")
            }
            guard !lines.isEnded else {
                if count == 0 { return nil }
                throw BackplaneError(
                    .controlMalformed,
                    "expected a newline after the request, found the end of input after \(count) bytes")
            }
        }
    }

    /// Ends the reading stage.
    ///
    /// - Throws: The reason why the reading was interrupted.
    private func finishReading() throws(BackplaneError) {
        let reason = state.withLock { state -> BackplaneError? in
            if case .interrupted(let error) = state.stage { return error }
            state.stage = .read
            return nil
        }
        if let reason { throw reason }
    }

    /// Reserves memory for the bytes that have arrived, except for the first chunk.
    private func makeRoom(for count: Int, _ memory: inout Int) throws(BackplaneError) {
        let more = count - limits.beginning - memory
        guard more > 0 else { return }
        try server.gate.reserve(more)
        memory += more
    }

    /// Sends a line, and returns whether the client has received it.
    @discardableResult
    private func send(_ bytes: [UInt8], within limit: Duration? = nil) -> Bool {
        writing.withLock { _ in
            // Part of an earlier line may have been written.
            guard !isLost.load(ordering: .relaxed) else { return false }
            do throws(SystemError) {
                try socket.write(bytes, until: .now + (limit ?? limits.writing))
                return true
            } catch {
                isLost.store(true, ordering: .relaxed)
                return false
            }
        }
    }
}

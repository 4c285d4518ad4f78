import Backplane
import BackplaneHost
import Glibc
import Synchronization

/// One connection of a control socket: reads a request and answers it, whatever the client does.
final class ControlConnection: Sendable {
    private let socket: LocalSocket
    private let server: ControlServer
    private var limits: ControlLimits { server.limits }
    /// A Boolean value that indicates whether the client no longer accepts output.
    private let isLost = Atomic(false)

    init(_ socket: LocalSocket, of server: ControlServer) {
        (self.socket, self.server) = (socket, server)
    }

    /// Answers with the reason why no request is accepted.
    func refuse(_ reason: String) {
        send(ControlText.error(BackplaneError(.controlBusy, reason)), within: .seconds(1))
    }

    func serve() {
        do throws(BackplaneError) {
            try requireTrust()
            guard let bytes = try read() else { return }
            let head = try ControlText.head(of: bytes)
            send(ControlText.result(try answer(head, bytes)))
        } catch {
            send(ControlText.error(error))
        }
    }

    private func answer(_ head: ControlText.Head, _ bytes: [UInt8]) throws(BackplaneError) -> [UInt8] {
        if head.request == HelloRequest.name { return try JSON.encode(server.greeting, failing: .controlFailed) }
        let request = try server.request(for: head), server = server
        if request.endsWithClient { try requireRoomForStrays() }
        let work = try ControlWork { self.send(ControlText.event($0), within: .seconds(1)) }
        let begins = work.start {
            do throws(BackplaneError) { return .success(try await request.answer(server.host, bytes, work)) } catch {
                return .failure(error)
            }
        } ended: { isStray in
            if isStray { server.strays.subtract(1, ordering: .relaxed) }
        }
        guard begins else { throw BackplaneError(.controlBusy, "the system cannot create more threads for the host") }
        if let outcome = work.wait(for: request.endsWithClient ? socket : nil) { return try outcome.get() }
        server.strays.add(1, ordering: .relaxed)
        throw BackplaneError(
            .callDeadline,
            "the deadline passed; the called function still occupies its thread, and is no longer waited for")
    }

    private func requireRoomForStrays() throws(BackplaneError) {
        let strays = server.strays.load(ordering: .relaxed)
        guard strays >= limits.strays else { return }
        throw BackplaneError(
            .controlBusy,
            "\(strays) abandoned calls have not returned, and each occupies a thread; no more calls are accepted here"
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
    private func read() throws(BackplaneError) -> [UInt8]? {
        let deadline = Deadline.now + limits.reading
        var bytes: [UInt8] = []
        while true {
            let start = bytes.count, more: Bool
            do throws(SystemError) {
                more = try socket.read(into: &bytes, limit: ControlProtocol.chunk, until: deadline)
            } catch {
                guard error.number == ETIMEDOUT else { return nil }
                throw BackplaneError(
                    .controlMalformed,
                    "expected a request within \(limits.reading), found \(bytes.count) bytes without a newline at their end"
                )
            }
            if let end = bytes.newline(from: start) { return Array(bytes[..<end]) }
            guard bytes.count <= limits.request else {
                throw BackplaneError(
                    .controlMalformed, "a request has at most \(limits.request >> 20) MB and ends with a newline")
            }
            guard more else {
                if bytes.isEmpty { return nil }
                throw BackplaneError(
                    .controlMalformed, "expected a newline after the request, found its end after \(bytes.count) bytes")
            }
        }
    }

    private func send(_ bytes: [UInt8], within limit: Duration? = nil) {
        guard !isLost.load(ordering: .relaxed) else { return }
        do throws(SystemError) { try socket.write(bytes, until: .now + (limit ?? limits.writing)) } catch {
            isLost.store(true, ordering: .relaxed)
        }
    }
}

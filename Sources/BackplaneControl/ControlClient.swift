package import Backplane
import BackplaneHost
import Glibc

/// A client of the host that listens at a path, with one connection per request; it blocks the calling thread.
package struct ControlClient: Sendable {
    /// The absolute path of the host's socket.
    package let path: String

    package init(_ path: String) { self.path = FilePath.absolute(path) }

    /// Sends a request and waits for the answer.
    ///
    /// - Parameters:
    ///   - limit: The time to wait, or `nil` for no limit.
    ///   - report: A function called when the host reports progress.
    ///   - element: A function called with each element of a lasting answer, as JSON.
    ///   - tick: A function called at intervals while there is no answer.
    /// - Throws: The error that the host answered with, or `control.unreachable`.
    package func ask<Message: ControlMessage>(
        _ message: Message, within limit: Duration? = nil, report: (ControlEvent) -> Void = { _ in },
        element: (String) -> Void = { _ in }, tick: () -> Void = {}
    ) throws(BackplaneError) -> Message.Answer {
        let line =
            try JSON.encode(ControlText.Line(message: message), failing: .controlMalformed) + [ControlProtocol.newline]
        guard line.count <= ControlProtocol.requestLimit else {
            throw BackplaneError(
                .controlMalformed,
                "a host accepts requests of at most \(ControlProtocol.requestLimit >> 20) MB, but this one has \(line.count) bytes"
            )
        }
        let deadline = limit.map { Deadline.now + $0 }
        let socket = try connect(within: limit ?? ControlProtocol.writingLimit)
        try send(line, to: socket, until: deadline ?? .now + ControlProtocol.writingLimit)
        var lines = LineReader(socket)
        while true {
            guard let line = try next(&lines, until: deadline, tick) else {
                throw BackplaneError(
                    .controlUnreachable,
                    "the host closed the connection without answering: it stopped or was killed; check its last output",
                    at: path)
            }
            let part = try JSON.decode(ControlText.Answer<Message.Answer>.self, line, failing: .controlProtocol)
            if let event = part.event { report(event) }
            if let text = part.element { element(text) }
            if let error = part.error { throw error }
            if let result = part.result { return result }
        }
    }

    /// Returns the greeting of the host.
    ///
    /// - Throws: `control.unreachable`, or `control.protocol` if the host uses another version of the protocol.
    package func greet() throws(BackplaneError) -> HostGreeting {
        let greeting = try ask(HelloRequest(), within: .seconds(20))
        guard greeting.protocol == ControlProtocol.number else {
            throw BackplaneError(
                .controlProtocol,
                "the host, process \(greeting.process), is Backplane \(greeting.version) and supports protocol "
                    + "\(greeting.protocol), "
                    + "but this tool is \(HostVersion.text) and speaks \(ControlProtocol.number); use the version of "
                    + "the tool that matches the host",
                at: path)
        }
        return greeting
    }
}

// MARK: Connection

extension ControlClient {
    private func connect(within limit: Duration) throws(BackplaneError) -> LocalSocket {
        let socket: LocalSocket
        do throws(SystemError) {
            socket = try LocalSocket(connectingTo: path, within: limit)
        } catch {
            throw unreachable(error)
        }
        // The listener learns the request's contents, so it must be this user or root; root may connect to any user.
        let (user, own) = (socket.peerUser, geteuid())
        guard user == own || user == 0 || own == 0 else {
            throw BackplaneError(
                .controlForbidden,
                "the process listening on the socket belongs to user \(user.map { "\($0)" } ?? "unknown"), not to "
                    + "user \(own)",
                at: path)
        }
        return socket
    }

    private func send(_ line: [UInt8], to socket: LocalSocket, until deadline: Deadline) throws(BackplaneError) {
        do throws(SystemError) {
            try socket.write(line, until: deadline)
        } catch {
            // The host may have sent the reason why it stopped reading.
            if error.number != EPIPE, error.number != ECONNRESET { throw unreachable(error) }
        }
    }

    /// Returns the next line of the answer, or `nil` if the host has hung up.
    private func next(_ lines: inout LineReader, until deadline: Deadline?, _ tick: () -> Void) throws(BackplaneError)
        -> [UInt8]?
    {
        while true {
            if let line = lines.line() { return line }
            if lines.isEnded { return nil }
            let moment = Deadline.now + .milliseconds(200)
            do throws(SystemError) {
                try lines.read(until: min(moment, deadline ?? moment))
            } catch {
                if error.number == ECONNRESET { return nil }
                guard error.number == ETIMEDOUT, deadline.map({ .now < $0 }) ?? true else { throw unreachable(error) }
                tick()
            }
        }
    }

    private func unreachable(_ error: SystemError) -> BackplaneError {
        let reason =
            switch error.number {
            case ENOENT: "the socket does not exist; `backplane run` prints the path of its socket"
            case ECONNREFUSED: "no host is listening there"
            case ETIMEDOUT, EAGAIN: "the host does not answer in time"
            default: "the host cannot be queried: \(error)"
            }
        return BackplaneError(.controlUnreachable, reason, at: path)
    }
}

import Foundation
public import Glibc
import Synchronization

/// A small HTTP/1.1 server on 127.0.0.1 with a script that can send any bytes at any time.
///
/// ```swift
/// let server = try TestServer { request, connection in
///     connection.answer("200 OK", body: Array("hello".utf8))        // or send, drip, stall, reset, close
/// }
/// let response = try await executor.execute(HTTPRequest("GET", server.url("/books")))
/// ```
///
/// One thread accepts connections. Each of up to 128 connections has its own thread, on which the script runs and may
/// block. A connection serves one request after another until its client closes it or asks for `Connection: close`.
/// A connection ends after a minute without traffic, and when the server is stopped or released.
public final class TestServer: Sendable {
    /// The TCP port on the loopback interface.
    public let port: UInt16
    /// The requests as they arrive; the stream keeps the latest 10,000 unread ones.
    public let requests: AsyncStream<ReceivedRequest>
    /// One element for each connection that has ended; the stream keeps the latest 10,000 unread ones.
    public let departures: AsyncStream<Void>
    private let connections: OpenConnections

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - port: The port to listen on; if 0, the system chooses a free one.
    ///   - greeting: The text to send before anything is received.
    ///   - readsBodies: Whether a request's body, of at most 64 MB, is read before its answer is requested; otherwise,
    ///     the script reads it with ``TestConnection/readBody(of:upTo:)`` or ``TestConnection/nextPiece()``.
    ///   - answer: The script, which answers one request of a connection.
    /// - Throws: `POSIXError` if the port cannot be used, such as `EADDRINUSE`.
    public init(
        port: UInt16 = 0, greeting: String = "", readsBodies: Bool = true,
        _ answer: @escaping @Sendable (ReceivedRequest, TestConnection) -> Void
    ) throws {
        let listener = try LoopbackSocket(port: port, backlog: 128)
        self.port = listener.port
        let (requests, requested) = AsyncStream.makeStream(
            of: ReceivedRequest.self, bufferingPolicy: .bufferingNewest(10_000))
        let (departures, departed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(10_000))
        let connections = OpenConnections(listener)
        (self.requests, self.departures, self.connections) = (requests, departures, connections)
        Thread.detachNewThread {
            while let connection = connections.accept() {
                Thread.detachNewThread {
                    connection.send(greeting)
                    while var request = connection.nextHead() {
                        if readsBodies {
                            guard let whole = connection.readBody(of: request) else {
                                connection.answer("413 Content Too Large")
                                break
                            }
                            request = whole
                        }
                        requested.yield(request)
                        answer(request, connection)
                    }
                    connection.finish()
                    departed.yield()
                    connections.remove(connection)
                }
            }
        }
    }

    deinit { stop() }

    /// Returns the URL of a path.
    public func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Stops accepting connections and requests, and closes all connections.
    ///
    /// - Parameter patience: The time that answers in progress have to end before their connections are closed.
    public func stop(within patience: Duration = .zero) { connections.stop(within: patience) }
}

/// The listening socket and the connections of one server.
private final class OpenConnections: Sendable {
    private struct State {
        var isOpen = true
        var count = 0
        var open: [Int32: TestConnection] = [:]
    }
    private let listener: LoopbackSocket
    private let state = Mutex(State())
    /// Entered once for each open connection.
    private let group = DispatchGroup()

    init(_ listener: LoopbackSocket) { self.listener = listener }

    /// Returns the next connection; `nil` once the server has stopped.
    func accept() -> TestConnection? {
        while true {
            let descriptor = Glibc.accept(listener.descriptor, nil, nil)
            guard descriptor >= 0 else {
                guard state.withLock({ $0.isOpen }) else { return nil }
                // The client has already left, or no descriptor is available at the moment.
                usleep(1_000)
                continue
            }
            // A child process that inherited the descriptor would keep the connection open.
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            if let connection = admit(descriptor) { return connection }
            Glibc.close(descriptor)
        }
    }

    private func admit(_ descriptor: Int32) -> TestConnection? {
        state.withLock { state in
            guard state.isOpen, state.open.count < 128 else { return nil }
            let connection = TestConnection(descriptor, number: state.count)
            state.count += 1
            state.open[descriptor] = connection
            group.enter()
            return connection
        }
    }

    func remove(_ connection: TestConnection) {
        state.withLock { $0.open[connection.descriptor] = nil }
        Glibc.close(connection.descriptor)
        group.leave()
    }

    func stop(within patience: Duration) {
        state.withLock { $0.isOpen = false }
        shutdown(listener.descriptor, Int32(SHUT_RDWR))
        if patience > .zero {
            // Without further input, idle connections end at once, and the others after their answers.
            state.withLock { for connection in $0.open.values { shutdown(connection.descriptor, Int32(SHUT_RD)) } }
            _ = group.wait(timeout: .now() + patience / .seconds(1))
        }
        state.withLock { for connection in $0.open.values { connection.close() } }
    }
}

/// A socket that reserves a port of 127.0.0.1 until it is released.
public final class LoopbackSocket: Sendable {
    /// The file descriptor, which is closed with the socket.
    public let descriptor: Int32
    /// The TCP port on the loopback interface.
    public let port: UInt16

    /// Reserves a port.
    ///
    /// - Parameters:
    ///   - port: The port; if 0, the system chooses a free one.
    ///   - backlog: The maximum number of connections that wait to be accepted; if `nil`, the socket does not listen,
    ///     and connections are refused.
    /// - Throws: `POSIXError` if the port cannot be used.
    public init(port: UInt16 = 0, backlog: Int32?) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if port > 0 {
            // Closed connections of an earlier server would otherwise occupy the port for a while.
            var isReused: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = Self.address(port: port)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let failed = withUnsafeMutablePointer(to: &address) { [descriptor] address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) != 0 || backlog.map { listen(descriptor, $0) != 0 } ?? false
                    || getsockname(descriptor, address, &length) != 0
            }
        }
        self.port = UInt16(bigEndian: address.sin_port)
        guard !failed else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { close(descriptor) }

    /// Calls a function with the address to connect to.
    public func withAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: Self.address(port: port)) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = port.bigEndian
        return address
    }
}

/// A feed of server-sent events for any number of connections (WHATWG HTML, section 9.2).
///
/// The latest 1,000 events are kept, and sent to clients that reconnect with the `Last-Event-ID` of an earlier event.
public final class TestEventFeed: Sendable {
    private struct State {
        var listeners: [Int32: TestConnection] = [:]
        var last = 0
        /// The text of the latest events; the last event has the number `last`.
        var kept: [String] = []
    }
    private let state = Mutex(State())
    /// The random beginning of all ids, which distinguishes feeds because each feed counts from 1.
    private let prefix = String(UInt64.random(in: .min ... .max), radix: 36) + "-"

    /// Creates a feed without any events.
    public init() {}

    /// Sends an event to all connections.
    public func publish(_ name: String, _ data: String) {
        state.withLock { state in
            state.last += 1
            let lines = data.split(separator: "\n", omittingEmptySubsequences: false).map { "data: \($0)\n" }.joined()
            let event = "id: \(prefix)\(state.last)\nevent: \(name)\n\(lines)\n"
            state.kept = state.kept.suffix(999) + [event]
            for listener in state.listeners.values { listener.push(event) }
        }
    }

    /// Sends an event with a value as JSON to all connections.
    public func publish(_ name: String, json value: some Encodable) { publish(name, TestConnection.json(value)) }

    /// Answers a request with a stream of events until the client leaves or the server stops.
    ///
    /// The stream begins with the events after the request's `Last-Event-ID`, or with an event `missed` if some of them
    /// may be lost.
    public func serve(_ request: ReceivedRequest, _ connection: TestConnection) {
        state.withLock { state in
            let type = ("Content-Type", "text/event-stream")
            connection.sendHead("200 OK", [type, ("Cache-Control", "no-store"), ("Connection", "close")])
            guard request.method != "HEAD" else { return }
            if let last = request["Last-Event-ID"] {
                let number = last.hasPrefix(prefix) ? Int(last.dropFirst(prefix.count)) : nil
                if let number, (state.last - state.kept.count...state.last).contains(number) {
                    connection.push(state.kept.suffix(state.last - number).joined())
                } else {
                    connection.push("event: missed\ndata: {}\n\n")
                }
            }
            state.listeners[connection.descriptor] = connection
        }
        while request.method != "HEAD", !connection.hasEnded(within: .seconds(15)) {
            // A heartbeat keeps the client from giving up, and fails if the client has left.
            state.withLock { _ in connection.push(": heartbeat\n\n") }
        }
        state.withLock { $0.listeners[connection.descriptor] = nil }
    }
}

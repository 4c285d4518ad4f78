import Foundation
import Glibc
import Synchronization

/// A small HTTP/1.1 server on a free port of 127.0.0.1, whose answers come from a script: any bytes, at any time.
///
/// ```swift
/// let server = try TestServer { request, connection in
///     connection.answer("200 OK", body: Array("hello".utf8))        // or send, drip, stall, reset, close
/// }
/// let response = try await executor.execute(HTTPRequest("GET", server.url("/books")))
/// ```
///
/// One thread accepts connections, and each of up to 128 connections has its own thread, on which the script runs and
/// may block. All connections end when the server is stopped or released, and any connection ends after a minute
/// without traffic.
public final class TestServer: Sendable {
    /// The TCP port on the loopback interface, chosen by the system.
    public let port: UInt16
    /// The requests as they arrive.
    public let requests: AsyncStream<ReceivedRequest>
    /// One element for each connection that has ended.
    public let departures: AsyncStream<Void>
    private let connections: OpenConnections

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - greeting: The text to send before anything is received.
    ///   - readsBodies: Whether a request's body is read before its answer is requested; otherwise, the script reads it
    ///     with ``TestConnection/readBody(of:)``.
    ///   - answer: The script, which answers one request of a connection.
    public init(
        greeting: String = "", readsBodies: Bool = true,
        _ answer: @escaping @Sendable (ReceivedRequest, TestConnection) -> Void
    )
        throws
    {
        let listener = try LoopbackSocket(backlog: 128)
        port = listener.port
        let (requests, requested) = AsyncStream.makeStream(of: ReceivedRequest.self)
        let (departures, departed) = AsyncStream.makeStream(of: Void.self)
        let connections = OpenConnections(listener)
        (self.requests, self.departures, self.connections) = (requests, departures, connections)
        Thread.detachNewThread {
            while let connection = connections.accept() {
                Thread.detachNewThread {
                    connection.send(greeting)
                    while var request = connection.nextHead() {
                        if readsBodies { guard connection.readBody(of: &request) else { break } }
                        requested.yield(request)
                        answer(request, connection)
                    }
                    departed.yield()
                    connections.remove(connection)
                }
            }
        }
    }

    deinit { stop() }

    /// Returns the URL of a path.
    public func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Closes all connections, and accepts no more.
    public func stop() { connections.stop() }
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

    init(_ listener: LoopbackSocket) { self.listener = listener }

    private var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Returns the next connection; `nil` once the server has stopped.
    func accept() -> TestConnection? {
        while true {
            let descriptor = Glibc.accept(listener.descriptor, nil, nil)
            guard descriptor >= 0 else {
                guard isOpen else { return nil }
                // A client has left already, or there is no descriptor at the moment.
                usleep(1_000)
                continue
            }
            // A child process that inherited it would keep the connection from ending.
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
            return connection
        }
    }

    func remove(_ connection: TestConnection) {
        state.withLock { $0.open[connection.descriptor] = nil }
        Glibc.close(connection.descriptor)
    }

    func stop() {
        state.withLock { state in
            state.isOpen = false
            for connection in state.open.values { connection.close() }
        }
        shutdown(listener.descriptor, Int32(SHUT_RDWR))
    }
}

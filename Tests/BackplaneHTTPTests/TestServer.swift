import Foundation
import Glibc
import Synchronization

/// A tiny HTTP/1.1 server on a free port of 127.0.0.1, whose answers are a script: any bytes, at any time.
///
/// A thread accepts, and each connection has one of its own, at most 128; all of them end with the server, when it is
/// stopped or released, and a connection that is silent for a minute ends by itself.
final class TestServer: Sendable {
    let port: UInt16
    /// The requests as they come in.
    let requests: AsyncStream<ReceivedRequest>
    /// One element for each connection that has ended.
    let departures: AsyncStream<Void>
    private let connections: Connections

    /// - Parameter greeting: What is sent before anything was received.
    init(greeting: String = "", _ answer: @escaping @Sendable (ReceivedRequest, TestConnection) -> Void) throws {
        let listener = try LoopbackSocket(backlog: 128)
        port = listener.port
        let (requests, requested) = AsyncStream.makeStream(of: ReceivedRequest.self)
        let (departures, departed) = AsyncStream.makeStream(of: Void.self)
        let connections = Connections(listener)
        (self.requests, self.departures, self.connections) = (requests, departures, connections)
        Thread.detachNewThread {
            while let connection = connections.accept() {
                Thread.detachNewThread {
                    connection.send(greeting)
                    while let request = connection.nextRequest() {
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

    func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    func stop() { connections.stop() }
}

/// A request as it came in.
struct ReceivedRequest: Sendable {
    var method: String, target: String
    var fields: [(name: String, value: String)]
    var body: [UInt8]

    subscript(name: String) -> String? { fields.first { $0.name.lowercased() == name.lowercased() }?.value }
}

/// One connection, used by its thread only; the server closes it from outside with `shutdown(2)`, which any thread may.
final class TestConnection: @unchecked Sendable {  // one thread's, but for shutdown(2)
    let descriptor: Int32
    /// How many came before.
    let number: Int
    private var received: [UInt8] = []
    /// Whether sending or receiving has found the connection closed.
    private(set) var wasLeft = false

    init(_ descriptor: Int32, number: Int) {
        (self.descriptor, self.number) = (descriptor, number)
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Sends these bytes as they are.
    func send(_ bytes: some Collection<UInt8>) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return wasLeft = true }
            rest = rest.dropFirst(count)
        }
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends a whole response.
    func answer(_ status: String, _ fields: [(String, String)] = [], body: [UInt8] = []) {
        let head = fields.map { "\($0): \($1)\r\n" }.joined()
        send(Array("HTTP/1.1 \(status)\r\n\(head)Content-Length: \(body.count)\r\n\r\n".utf8) + body)
    }

    func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Returns when the other side has closed the connection.
    func awaitDeparture() {
        while fill() {}
    }

    fileprivate func nextRequest() -> ReceivedRequest? {
        var headEnd: Range<Int>?
        repeat { headEnd = received.firstRange(of: Array("\r\n\r\n".utf8)) } while headEnd == nil && fill()
        guard let headEnd else { return nil }
        var lines = String(decoding: received[..<headEnd.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let start = lines.removeFirst().components(separatedBy: " ")
        let fields = lines.map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (name: String(parts[0]), value: parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : "")
        }
        received.removeSubrange(..<headEnd.upperBound)
        var request = ReceivedRequest(
            method: start[0], target: start.count > 1 ? start[1] : "", fields: fields, body: [])
        let length = request["Content-Length"].flatMap { Int($0) } ?? 0
        while received.count < length {
            guard fill() else { return nil }
        }
        request.body = Array(received.prefix(length))
        received.removeFirst(length)
        return request
    }

    /// Reads some more; `false` at the end.
    private func fill() -> Bool {
        let chunk = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
            count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
        }
        received += chunk
        if chunk.isEmpty { wasLeft = true }
        return !chunk.isEmpty
    }
}

/// The listening socket and the connections of one server.
private final class Connections: Sendable {
    private struct State {
        var isOpen = true
        var count = 0
        var open: [Int32: TestConnection] = [:]
    }
    private let listener: LoopbackSocket
    private let state = Mutex(State())

    init(_ listener: LoopbackSocket) { self.listener = listener }

    /// The next connection; `nil` once the server has stopped.
    func accept() -> TestConnection? {
        while true {
            let descriptor = Glibc.accept(listener.descriptor, nil, nil)
            guard descriptor >= 0 else { return nil }
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

/// A socket that holds a free port of 127.0.0.1 for itself, and closes with its last user.
final class LoopbackSocket: Sendable {
    let descriptor: Int32
    let port: UInt16

    /// - Parameter backlog: `nil`: nobody listens, and who connects is refused.
    init(backlog: Int32?) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let failed = withUnsafeMutablePointer(to: &address) { [descriptor] address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) != 0 || backlog.map { listen(descriptor, $0) != 0 } ?? false
                    || getsockname(descriptor, address, &length) != 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard !failed else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { close(descriptor) }

    /// Lends the address to connect to.
    func withAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
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

/// Holds threads of a server until the test opens it.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    /// Called on a thread of the server; stays open once it is.
    func pass() {
        semaphore.wait()
        semaphore.signal()
    }

    func open() { semaphore.signal() }
}

import Backplane
import BackplaneHost
import BackplaneHummingbird
import BenchmarkContracts
import Foundation
import Glibc
import Hummingbird

// The cost of a plugin's routes, compared with the same handler in a Hummingbird application without Backplane.
//
// The servers are in one process, with a port for each. The load comes from one thread of this process (`RouteLoad`),
// which shares the processors with the servers. Each round loads one server after another, and then again in the
// opposite order; the figures combine both runs.
extension BenchSuite {
    static let routes = BenchSuite(name: "routes") { folder in
        let server = try await Child.Server<RouteServer.Ports>("routes", in: folder), direct = "direct in Hummingbird"
        return Opened([
            Measurement(
                rows: [
                    Row("requests to a plugin", .perSecond, beside: direct, target: .ratio(atLeast: 0.95)),
                    Row("requests to a plugin, p99", .milliseconds, beside: direct, target: .ratio(atMost: 1.2)),
                    Row("requests to a plugin, encoded", .perSecond, beside: direct, target: .ratio(atLeast: 0.6)),
                ], rounds: 9, count: 20_000
            ) { count in
                let ports = [server.ports.direct, server.ports.native, server.ports.encoded]
                var outcomes = ports.map { _ in RouteLoad.Outcome() }
                for index in [0, 1, 2, 2, 1, 0] {
                    outcomes[index].add(try await RouteLoad(port: ports[index], path: "/books/7").run(count))
                }
                let (direct, native, encoded) = (outcomes[0], outcomes[1], outcomes[2])
                return [
                    Figure(native.rate, beside: direct.rate), Figure(native.p99, beside: direct.p99),
                    Figure(encoded.rate, beside: direct.rate),
                ]
            }
        ]) { server.stop() }
    }
}

/// The servers that are compared, in a child.
enum RouteServer {
    struct Ports: Codable, Sendable { var direct, native, encoded: Int }

    static func serve(in folder: String) async throws {
        let direct = Router()
        direct.get("/books/:id") { request, context in
            let book = RoutedBook(try context.parameters.require("id", as: Int.self))
            return try context.responseEncoder.encode(book, from: request, context: context)
        }
        let native = try await host(.fastest, in: folder + "/native")
        let encoded = try await host(.encoded, in: folder + "/encoded")
        try await Child.announce(
            Ports(
                direct: try await BenchServer.listen(direct), native: try await BenchServer.listen(router(of: native)),
                encoded: try await BenchServer.listen(router(of: encoded))))
    }

    private static func host(_ lanes: LaneRule, in folder: String) async throws -> PluginHost {
        let host = PluginHost(
            manifest: Manifest(
                plugins: [PluginReference(library: "Benchmark")],
                managers: ["Books": ManagerDefinition(className: "BookRoutes")]),
            options: BenchmarkHost.options(in: folder, lanes: lanes))
        try await host.start()
        return host
    }

    private static func router(of host: PluginHost) -> Router<BasicRequestContext> {
        Router(context: BasicRequestContext.self).add(middleware: HostRoutes<BasicRequestContext>(host))
    }
}

/// A load of keep-alive connections, each of which sends a request once the previous one is answered.
///
/// One thread of this process serves all connections, with two system calls for each request. Even at the full speed of
/// the server, this takes only part of one processor. The server process can use the rest.
struct RouteLoad: Sendable {
    var port: Int
    var path: String
    private static let connections = 64

    struct Outcome: Sendable {
        /// The times from requests to their answers, in milliseconds.
        var times: [Double] = []
        var duration = Duration.zero

        /// The number of answers in each second.
        var rate: Double { Double(times.count) / (duration / .seconds(1)) }
        var p99: Double { Sample(times).p99 }

        mutating func add(_ other: Outcome) {
            times += other.times
            duration += other.duration
        }
    }

    /// Sends a number of requests, after an uncounted request on each connection.
    ///
    /// - Throws: `component.failed` if a request fails; `POSIXError` if the server is unreachable, or silent for a
    ///   minute.
    func run(_ count: Int) async throws -> Outcome {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        var all = try (0..<Self.connections).map { _ in try LoadedConnection(port) }
                        defer { for connection in all { connection.close() } }
                        _ = try send(Self.connections, over: &all)
                        return try send(count, over: &all)
                    })
            }
        }
    }

    private func send(_ count: Int, over all: inout [LoadedConnection]) throws -> Outcome {
        let request = "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n", start = ContinuousClock.now
        var outcome = Outcome(), sent = min(count, all.count)
        for index in 0..<sent { all[index].send(request) }
        var watched = all.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        while outcome.times.count < count {
            guard poll(&watched, nfds_t(watched.count), 60_000) > 0 else {
                if errno == EINTR { continue }
                throw POSIXError(.ETIMEDOUT)
            }
            for index in watched.indices where watched[index].revents != 0 {
                guard all[index].receive() else { throw POSIXError(.ECONNRESET) }
                guard let answer = all[index].answer() else { continue }
                guard answer.status == 200 else {
                    throw BackplaneError(
                        .componentFailed, "a request was answered with the status \(answer.status)", at: path)
                }
                outcome.times.append((ContinuousClock.now - all[index].sent) / .milliseconds(1))
                all[index].forget(answer.body.upperBound)
                if sent < count {
                    all[index].send(request)
                    sent += 1
                }
            }
        }
        outcome.duration = ContinuousClock.now - start
        return outcome
    }
}

/// A connection of a load to a server on this machine, with the bytes that it has received.
struct LoadedConnection {
    let descriptor: Int32
    private(set) var received: [UInt8] = []
    /// The time at which the last request was sent.
    private(set) var sent = ContinuousClock.now

    init(_ port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        (address.sin_family, address.sin_port) = (sa_family_t(AF_INET), UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            let error = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            close()
            throw error
        }
    }

    func close() { Glibc.close(descriptor) }

    mutating func send(_ request: String) {
        sent = .now
        let bytes = Array(request.utf8)
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Receives the bytes that have arrived; returns `false` at the end of the connection.
    mutating func receive() -> Bool {
        let size = 16 << 10, start = received.count, descriptor = descriptor
        received += repeatElement(0, count: size)
        let count = received.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress! + start, size, 0) }
        received.removeLast(size - max(0, count))
        return count > 0
    }

    /// Removes the next complete answer, and returns its parts.
    mutating func takeAnswer() -> (status: Int, head: String, body: String)? {
        guard let (status, body) = answer() else { return nil }
        defer { forget(body.upperBound) }
        return (
            status, String(decoding: received[..<body.lowerBound], as: UTF8.self),
            String(decoding: received[body], as: UTF8.self)
        )
    }

    /// Returns the status of the next complete answer, and the place of its body.
    func answer() -> (status: Int, body: Range<Int>)? {
        received.withUnsafeBufferPointer { bytes in
            let name = "content-length:".utf8
            var lineStart = 0, length = 0
            for end in bytes.indices where bytes[end] == UInt8(ascii: "\n") {
                let line = bytes[lineStart..<end]
                lineStart = end + 1
                if line.count <= 1 {
                    guard bytes.count >= lineStart + length else { return nil }
                    return (Self.number(in: bytes[9..<12]), lineStart..<lineStart + length)
                }
                if line.count > name.count, zip(line, name).allSatisfy({ $0 | 0x20 == $1 }) {
                    length = Self.number(in: line.dropFirst(name.count))
                }
            }
            return nil
        }
    }

    private static func number(in text: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
        text.reduce(0) { (48...57).contains($1) ? $0 * 10 + Int($1 - 48) : $0 }
    }

    /// Removes the first of the received bytes.
    mutating func forget(_ count: Int) { received.removeSubrange(..<count) }

    /// Sends a request, and waits for the answer.
    mutating func exchange(_ request: String) throws -> (status: Int, head: String, body: String) {
        send(request)
        while true {
            if let answer = takeAnswer() { return answer }
            guard receive() else { throw POSIXError(.ECONNRESET) }
        }
    }
}

import Foundation
import Glibc

/// A load of keep-alive connections, each of which sends a request once the last one is answered.
///
/// One thread of this process serves all of them, with two calls of the system for each request. Even at the full speed
/// of a server, a process of its own, it uses a part of one processor; the system gives the server the rest of that and
/// the others.
struct RouteLoad: Sendable {
    var port: UInt16
    var path: String
    var connections = 64
    /// Returns a number that is noted when a request is sent.
    var mark: @Sendable () -> Int = { 0 }
    /// Returns whether the body of an answer is right, given the number that was noted with its request.
    var isRight: @Sendable (_ body: ArraySlice<UInt8>, _ mark: Int) -> Bool = { _, _ in true }

    struct Outcome: Sendable {
        /// The times from requests to their answers, in milliseconds.
        var times: [Double] = []
        var duration = Duration.zero
        /// The number of answers with another status than 200, and of connections that ended without an answer.
        var failed = 0
        /// The number of answers that were not right.
        var wrong = 0

        /// The number of answers in each second.
        var rate: Double { Double(times.count) / (duration / .seconds(1)) }
        var p99: Double { Sample(times).p99 }

        static func + (a: Outcome, b: Outcome) -> Outcome {
            Outcome(
                times: a.times + b.times, duration: a.duration + b.duration, failed: a.failed + b.failed,
                wrong: a.wrong + b.wrong)
        }
    }

    /// Sends requests after one on each connection that is not counted.
    ///
    /// - Parameter goesOn: Returns whether another request is sent, after a number of them.
    /// - Throws: `POSIXError` if the server cannot be reached, or is silent for a minute.
    func run(while goesOn: @escaping @Sendable (_ sent: Int) -> Bool) async throws -> Outcome {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        var all = try (0..<connections).map { _ in try LoadedConnection(port) }
                        defer { for connection in all { connection.close() } }
                        _ = try send(over: &all) { $0 < connections }
                        return try send(over: &all, while: goesOn)
                    })
            }
        }
    }

    private func send(
        over all: inout [LoadedConnection], while goesOn: (_ sent: Int) -> Bool
    ) throws -> Outcome {
        let request = Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        var outcome = Outcome(), sent = 0, open = 0
        var watched = all.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        let start = ContinuousClock.now
        for index in all.indices where goesOn(sent) {
            all[index].send(request, mark())
            (sent, open) = (sent + 1, open + 1)
        }
        while open > 0 {
            guard poll(&watched, nfds_t(watched.count), 60_000) > 0 else {
                if errno == EINTR { continue }
                throw POSIXError(.ETIMEDOUT)
            }
            for index in watched.indices where watched[index].fd >= 0 && watched[index].revents != 0 {
                if all[index].receive() {
                    guard let answer = all[index].answer() else { continue }
                    outcome.times.append((ContinuousClock.now - all[index].sent) / .milliseconds(1))
                    if answer.status != 200 {
                        outcome.failed += 1
                    } else if !isRight(all[index].received[answer.body], all[index].mark) {
                        outcome.wrong += 1
                    }
                    all[index].forget(answer)
                } else {
                    outcome.failed += 1
                    all[index].close()
                    all[index] = try LoadedConnection(port)
                    watched[index].fd = all[index].descriptor
                }
                if goesOn(sent) {
                    all[index].send(request, mark())
                    sent += 1
                } else {
                    watched[index].fd = -1
                    open -= 1
                }
            }
        }
        outcome.duration = ContinuousClock.now - start
        return outcome
    }
}

/// A connection of a load, and the answer that it receives.
struct LoadedConnection {
    let descriptor: Int32
    private(set) var received: [UInt8] = []
    private(set) var sent = ContinuousClock.now
    private(set) var mark = 0

    init(_ port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        (address.sin_family, address.sin_port) = (sa_family_t(AF_INET), port.bigEndian)
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

    mutating func send(_ request: [UInt8], _ mark: Int) {
        (self.mark, sent) = (mark, .now)
        _ = Glibc.send(descriptor, request, request.count, Int32(MSG_NOSIGNAL))
    }

    /// Receives what has arrived; returns `false` at the end of the connection.
    mutating func receive() -> Bool {
        let size = 16 << 10, start = received.count, descriptor = descriptor
        received += repeatElement(0, count: size)
        let count = received.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress! + start, size, 0) }
        received.removeLast(size - max(0, count))
        return count > 0
    }

    /// Returns the status of an answer that has arrived whole, and the place of its body.
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

    mutating func forget(_ answer: (status: Int, body: Range<Int>)) {
        received.removeSubrange(..<answer.body.upperBound)
    }
}

import Foundation
import Glibc

/// The server of the HTTP rows, in a separate process: HTTP/1.1 on loopback, with a thread for each connection.
///
/// `GET /bytes/N` is answered with N bytes, `GET /json/N` with a ``BenchLibrary`` of about as many, `PUT` with 204 once
/// its body was received.
final class BenchServer: Sendable {
    private static let piece = [UInt8](repeating: 0x78, count: 256 << 10)
    private let listener: Int32
    let port: UInt16

    /// Creates a server that listens on an address of loopback.
    ///
    /// - Parameter number: The last part of the address: 1 for 127.0.0.1.
    init(address number: UInt32 = 1) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = (UInt32(INADDR_LOOPBACK) - 1 + number).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 256) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isOpen else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        (self.listener, port) = (listener, UInt16(bigEndian: address.sin_port))
    }

    /// Accepts connections until the process ends.
    func run() {
        Thread.detachNewThread { [self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                Thread.detachNewThread {
                    var served = ServedConnection(connection)
                    while served.answerNext() {}
                    close(connection)
                }
            }
        }
    }

    /// One connection, used by its thread.
    private struct ServedConnection {
        private let descriptor: Int32
        private var received: [UInt8] = []

        init(_ descriptor: Int32) {
            self.descriptor = descriptor
            var on: Int32 = 1
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        }

        /// Answers the next request; returns `false` at the end of the connection.
        mutating func answerNext() -> Bool {
            guard let head = nextHead() else { return false }
            let words = head.split(separator: " ", maxSplits: 2)
            guard words.count == 3 else { return false }
            if words[0] == "PUT" { return receiveBody(head) && send(Array("HTTP/1.1 204 No Content\r\n\r\n".utf8)) }
            if words[1].hasPrefix("/json/") {
                let body = BenchLibrary.json(atLeast: Int(words[1].dropFirst("/json/".count)) ?? 0)
                let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n"
                return send(Array(head.utf8) + body)
            }
            var left = Int(words[1].dropFirst("/bytes/".count)) ?? 0
            let first = BenchServer.piece.prefix(min(left, 1 << 14))
            guard send(Array("HTTP/1.1 200 OK\r\nContent-Length: \(left)\r\n\r\n".utf8) + first) else { return false }
            left -= first.count
            while left > 0 {
                guard send(BenchServer.piece.prefix(left)) else { return false }
                left -= min(left, BenchServer.piece.count)
            }
            return true
        }

        private mutating func nextHead() -> Substring? {
            while true {
                if let end = received.firstRange(of: Array("\r\n\r\n".utf8)) {
                    defer { received.removeSubrange(..<end.upperBound) }
                    return String(decoding: received[..<end.lowerBound], as: UTF8.self)[...]
                }
                guard fill() else { return nil }
            }
        }

        private mutating func receiveBody(_ head: Substring) -> Bool {
            let length = head.split(separator: "\r\n").compactMap { line -> Int? in
                line.lowercased().hasPrefix("content-length:")
                    ? Int(line.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespaces)) : nil
            }.first
            var left = (length ?? 0) - received.count
            received = []
            while left > 0 {
                guard fill() else { return false }
                left -= received.count
                received.removeAll(keepingCapacity: true)
            }
            return true
        }

        private mutating func fill() -> Bool {
            let chunk = [UInt8](unsafeUninitializedCapacity: 256 << 10) { buffer, count in
                count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
            }
            received += chunk
            return !chunk.isEmpty
        }

        private func send(_ bytes: some Collection<UInt8>) -> Bool {
            var rest = Array(bytes)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }
}

#if Engines
import Foundation
import Glibc
import Synchronization

/// A connection to a server on 127.0.0.1 that sends exactly what it is told, and reads answers piece by piece.
///
/// It waits on threads of its own, because the server needs those of Swift's pool.
final class ServerConnection: Sendable {
    /// An answer, as far as it has been read.
    struct Answer: Sendable {
        var status: Int
        /// The header fields, whose names are in lower case.
        var fields: [(name: String, value: String)] = []
        var body: [UInt8] = []
        /// A Boolean value that indicates whether the end of the body has arrived.
        var isWhole = false

        var text: String { String(decoding: body, as: UTF8.self) }
        subscript(name: String) -> String? { fields.first { $0.name == name }?.value }
    }
    /// The error of a connection that has ended, or has been silent for a minute, without an answer.
    struct NoAnswer: Error {}
    private let socket: Mutex<ClientSocket>

    /// Connects to a port.
    ///
    /// - Parameter buffer: The size of the buffer for received bytes; `nil` leaves it to the system.
    init(port: UInt16, receiving buffer: Int32? = nil) throws {
        socket = Mutex(try ClientSocket(port: port, receiving: buffer))
    }

    deinit { socket.withLock { $0.close() } }

    /// Returns the result of a function, which may wait.
    func wait<Value: Sendable>(for body: @escaping @Sendable (inout ClientSocket) throws -> Value) async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { [self] in
                continuation.resume(with: Result { try socket.withLock { try body(&$0) } })
            }
        }
    }

    /// Sends bytes, as far as the server takes them.
    func send(_ bytes: [UInt8]) async throws { try await wait { $0.send(bytes) } }
    /// Sends text.
    func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    /// Sends a request without a body, and reads the head of the answer.
    func open(_ path: String, _ method: String = "GET") async throws -> Answer {
        try await wait { socket in
            socket.send(Array("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
            guard let head = socket.head(to: method) else { throw NoAnswer() }
            return head
        }
    }

    /// Sends a request without a body, and reads the answer.
    func get(_ path: String, _ method: String = "GET") async throws -> Answer {
        let head = try await open(path, method)
        return try await wait { $0.whole(head) }
    }

    /// Reads the next answer; `nil` at the end of the connection.
    func answer() async throws -> Answer? { try await wait { $0.answer() } }
    /// Reads more of the body; `nil` at its end, and at the end of the connection.
    func piece() async throws -> [UInt8]? { try await wait { $0.piece() } }
    /// Reads to the end of the connection, and returns whether it came.
    func hasEnded() async throws -> Bool { try await wait { $0.hasEnded() } }
    /// Sends nothing more.
    func finish() async throws { try await wait { $0.finish() } }
    /// Closes the connection.
    func close() async throws { try await wait { $0.close() } }
}

/// A socket and the reader of its answers, for functions that may wait.
struct ClientSocket: Sendable {
    private enum Rest {
        case nothing
        case bytes(Int)
        /// Further chunks, after these bytes of the current one.
        case chunks(Int)
    }
    private var descriptor: Int32
    private var received: [UInt8] = []
    /// The number of received bytes that have been read.
    private var position = 0
    private var rest = Rest.nothing
    private var isOver = false

    fileprivate init(port: UInt16, receiving buffer: Int32?) throws {
        descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if var buffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &buffer, socklen_t(MemoryLayout<Int32>.size))
        }
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
            Glibc.close(descriptor)
            throw error
        }
    }

    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    mutating func close() {
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        descriptor = -1
    }

    mutating func answer(to method: String = "GET") -> ServerConnection.Answer? {
        head(to: method).map { whole($0) }
    }

    mutating func whole(_ head: ServerConnection.Answer) -> ServerConnection.Answer {
        var answer = head
        while let piece = piece() { answer.body += piece }
        answer.isWhole = isWhole
        return answer
    }

    /// A Boolean value that indicates whether the last answer has been read to its end.
    var isWhole: Bool { if case .nothing = rest { true } else { false } }

    mutating func head(to method: String = "GET") -> ServerConnection.Answer? {
        guard let words = line()?.split(separator: " ", maxSplits: 2), words.count > 1, words[0] == "HTTP/1.1",
            let status = Int(words[1])
        else { return nil }
        var answer = ServerConnection.Answer(status: status)
        while let line = line(), !line.isEmpty {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            answer.fields.append((parts[0].lowercased(), parts[parts.count - 1].trimmingCharacters(in: .whitespaces)))
        }
        let length = answer["content-length"].flatMap { Int($0) } ?? 0
        if method == "HEAD" || status == 204 || status == 304 {
            rest = .nothing
        } else if answer["transfer-encoding"] == "chunked" {
            rest = .chunks(0)
        } else {
            rest = length > 0 ? .bytes(length) : .nothing
        }
        return answer
    }

    mutating func piece() -> [UInt8]? {
        switch rest {
        case .nothing: return nil
        case .bytes(let count):
            guard let piece = take(atMost: count) else { return nil }
            rest = piece.count < count ? .bytes(count - piece.count) : .nothing
            return piece
        case .chunks(var count):
            if count == 0 {
                guard let line = line(), let size = Int(line.prefix { $0 != ";" }, radix: 16) else { return nil }
                count = size
            }
            guard count > 0 else {
                // The trailer ends with an empty line.
                var last = line()
                while let field = last, !field.isEmpty { last = line() }
                if last != nil { rest = .nothing }
                return nil
            }
            guard let piece = take(atMost: count) else { return nil }
            if piece.count == count { _ = line() }
            rest = .chunks(count - piece.count)
            return piece
        }
    }

    mutating func hasEnded() -> Bool {
        while fill() { position = received.count }
        return isOver
    }

    private mutating func line() -> String? {
        var searched = 0
        while true {
            if let end = received[(position + searched)...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { position = end + 1 }
                return String(decoding: received[position..<end].filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
            }
            searched = received.count - position
            guard fill() else { return nil }
        }
    }

    private mutating func take(atMost count: Int) -> [UInt8]? {
        while position == received.count { guard fill() else { return nil } }
        let piece = Array(received[position...].prefix(count))
        position += piece.count
        return piece
    }

    /// Receives more bytes; returns `false` if none come.
    private mutating func fill() -> Bool {
        if position == received.count {
            received.removeAll(keepingCapacity: true)
            position = 0
        }
        let chunk = [UInt8](unsafeUninitializedCapacity: 256 << 10) { buffer, count in
            count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count == 0 || count < 0 && errno == ECONNRESET { isOver = true }
            count = max(0, count)
        }
        received += chunk
        return !chunk.isEmpty
    }
}
#endif

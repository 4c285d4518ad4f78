import Foundation
import Glibc

/// A request that a ``TestServer`` has received.
public struct ReceivedRequest: Sendable {
    /// The request method as sent, such as `GET`.
    public var method: String
    /// The request target, such as `/books?q=whale`.
    public var target: String
    /// The header fields, in order.
    public var fields: [(name: String, value: String)]
    /// The body, with any chunks joined; empty if the script reads it.
    public var body: [UInt8] = []
    /// The fields after a chunked body.
    public var trailers: [(name: String, value: String)] = []

    /// The first value of a field.
    public subscript(name: String) -> String? { fields.first { $0.name.lowercased() == name.lowercased() }?.value }
}

/// One connection of a ``TestServer``, used by its thread only; the server closes it from outside with `shutdown(2)`.
public final class TestConnection: @unchecked Sendable {  // used by one thread, except for shutdown(2)
    let descriptor: Int32
    /// The number of earlier connections.
    public let number: Int
    private var received: [UInt8] = []
    /// A Boolean value that indicates whether the peer has closed the connection.
    public private(set) var wasLeft = false

    init(_ descriptor: Int32, number: Int) {
        (self.descriptor, self.number) = (descriptor, number)
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    // MARK: Sending

    /// Sends bytes unchanged; waits while the peer accepts none.
    public func send(_ bytes: some Collection<UInt8>) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return wasLeft = true }
            rest = rest.dropFirst(count)
        }
    }

    /// Sends text unchanged.
    public func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends a whole response.
    public func answer(_ status: String, _ fields: [(String, String)] = [], body: [UInt8] = []) {
        let head = fields.map { "\($0): \($1)\r\n" }.joined()
        send(Array("HTTP/1.1 \(status)\r\n\(head)Content-Length: \(body.count)\r\n\r\n".utf8) + body)
    }

    /// Sends a chunk of a chunked body; an empty one is the last, and is followed by trailer fields.
    public func sendChunk(_ bytes: [UInt8], trailers: [(String, String)] = []) {
        guard bytes.isEmpty else {
            return send(Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [13, 10])
        }
        send("0\r\n" + trailers.map { "\($0): \($1)\r\n" }.joined() + "\r\n")
    }

    /// Sends bytes one at a time, with a pause after each.
    public func drip(_ bytes: some Collection<UInt8>, pause: Duration = .milliseconds(1)) {
        for byte in bytes where !wasLeft {
            send(CollectionOfOne(byte))
            Thread.sleep(forTimeInterval: pause / .seconds(1))
        }
    }

    // MARK: Ending

    /// Closes the connection gracefully.
    public func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Closes the connection with a reset, so that unread data is lost.
    public func reset() {
        var lingering = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &lingering, socklen_t(MemoryLayout<linger>.size))
        wasReset = true
    }
    /// A Boolean value that indicates whether the descriptor is closed, rather than shut down, at the end of the
    /// script: only this sends a reset.
    private(set) var wasReset = false

    /// Waits until the peer has closed the connection.
    public func stall() {
        while fill() {}
    }

    // MARK: Receiving

    /// Reads the head of the next request; returns `nil` at the end.
    func nextHead() -> ReceivedRequest? {
        guard !wasReset, let lines = nextLines(), let first = lines.first else { return nil }
        let start = first.components(separatedBy: " ")
        return ReceivedRequest(
            method: start[0], target: start.count > 1 ? start[1] : "", fields: Self.fields(lines.dropFirst()))
    }

    /// Reads the body of a request whose head was received; returns `false` if the connection ends prematurely.
    func readBody(of request: inout ReceivedRequest) -> Bool {
        if request["Transfer-Encoding"]?.lowercased() == "chunked" {
            while let line = nextLine(), let count = Int(line.prefix { $0 != ";" }, radix: 16) {
                guard count > 0 else {
                    var trailers: [String] = []
                    while let line = nextLine(), !line.isEmpty { trailers.append(line) }
                    request.trailers = Self.fields(trailers[...])
                    return !wasLeft
                }
                guard let bytes = take(count), take(2) != nil else { return false }
                request.body += bytes
            }
            return false
        }
        guard let bytes = take(request["Content-Length"].flatMap { Int($0) } ?? 0) else { return false }
        request.body = bytes
        return true
    }

    /// Returns a request with its body, for scripts that read bodies; returns `nil` if the connection ends prematurely.
    public func readBody(of request: ReceivedRequest) -> ReceivedRequest? {
        var request = request
        return readBody(of: &request) ? request : nil
    }

    private static func fields(_ lines: ArraySlice<String>) -> [(name: String, value: String)] {
        lines.map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (name: String(parts[0]), value: parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : "")
        }
    }

    private func nextLines() -> [String]? {
        var lines: [String] = []
        while let line = nextLine() {
            if line.isEmpty { return lines }
            lines.append(line)
        }
        return nil
    }

    private func nextLine() -> String? {
        var searched = 0
        while true {
            if let end = received[searched...].firstRange(of: [13, 10]) {
                defer { received.removeSubrange(..<end.upperBound) }
                return String(decoding: received[..<end.lowerBound], as: UTF8.self)
            }
            searched = max(0, received.count - 1)
            guard fill() else { return nil }
        }
    }

    private func take(_ count: Int) -> [UInt8]? {
        while received.count < count {
            guard fill() else { return nil }
        }
        defer { received.removeFirst(count) }
        return Array(received.prefix(count))
    }

    /// Reads more bytes; returns `false` at the end.
    private func fill() -> Bool {
        let chunk = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
            count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
        }
        received += chunk
        if chunk.isEmpty { wasLeft = true }
        return !chunk.isEmpty
    }
}

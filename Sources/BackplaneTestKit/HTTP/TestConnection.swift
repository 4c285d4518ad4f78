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

    /// The first value of a field.
    public subscript(name: String) -> String? { fields.first { $0.name.lowercased() == name.lowercased() }?.value }

    /// The decoded segments of the target's path: `books` and `moby dick` of `/books/moby%20dick?page=2`.
    public var path: [String] {
        let path = target.prefix { $0 != "?" }
        return path.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
    }

    /// The decoded values of the target's query.
    public var query: [String: String] {
        let items = URLComponents(string: target)?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    }

    /// Returns the part of a content that the field `Range` asks for (RFC 9110, section 14.2).
    ///
    /// - Parameter size: The number of bytes of the content.
    /// - Returns: A range, which is empty if the content has nothing there; or `nil` for the whole content, because the
    ///   field is absent, malformed, in another unit or has several ranges.
    public func range(in size: Int) -> Range<Int>? {
        guard let match = self["Range"]?.wholeMatch(of: /bytes=([0-9]*)-([0-9]*)/) else { return nil }
        // A number too large for `Int` is beyond the end of every content.
        let first = match.1.isEmpty ? nil : Int(match.1) ?? .max, last = match.2.isEmpty ? nil : Int(match.2) ?? .max
        switch (first, last) {
        case (nil, nil): return nil
        case (nil, let count?): return size - min(count, size)..<size
        case (let first?, let last?) where last < first: return nil
        case (let first?, _) where first >= size: return size..<size
        case (let first?, let last): return first..<(last.map { min($0, size - 1) + 1 } ?? size)
        }
    }
}

/// One connection of a ``TestServer``, which only the connection's own thread uses.
///
/// There are two exceptions: the server closes it with `shutdown(2)`, and a ``TestEventFeed`` sends under its own lock.
public final class TestConnection: @unchecked Sendable {  // used by one thread, except as said above
    let descriptor: Int32
    /// The number of earlier connections.
    public let number: Int
    /// A Boolean value that indicates whether the peer has closed the connection.
    public private(set) var wasLeft = false
    private var wasReset = false
    /// The bytes that have been received but not read.
    private var received: [UInt8] = []
    /// The number of unread bytes of the body, or of its current chunk.
    private var unread = 0
    /// A Boolean value that indicates whether further chunks of the body follow.
    private var hasChunks = false
    private var expectsContinue = false
    private var isHead = false
    /// A Boolean value that indicates whether the connection ends after the current answer.
    private var isLast = false

    /// The maximum size of a head or of trailer fields, in bytes.
    private static let headLimit = 64 << 10

    init(_ descriptor: Int32, number: Int) {
        (self.descriptor, self.number) = (descriptor, number)
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    // MARK: Sending

    /// Sends bytes unchanged, and waits while the peer does not accept them.
    public func send(_ bytes: some Collection<UInt8>) {
        expectsContinue = false
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return wasLeft = true }
            rest = rest.dropFirst(count)
        }
    }

    /// Sends text unchanged.
    public func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends the head of a response; the script then sends the body in the form that the fields announce.
    public func sendHead(_ status: String, _ fields: [(String, String)] = []) {
        if fields.contains(where: { $0.0.lowercased() == "connection" && $0.1 == "close" }) { isLast = true }
        send("HTTP/1.1 \(status)\r\n" + fields.map { "\($0): \($1)\r\n" }.joined() + "\r\n")
    }

    /// Sends a whole response; to a `HEAD` request, only its head.
    ///
    /// If the request's body has not been read, the response ends the connection.
    public func answer(_ status: String, _ fields: [(String, String)] = [], body: [UInt8] = []) {
        let end = hasUnreadBody ? [("Connection", "close")] : []
        sendHead(status, fields + end + [("Content-Length", "\(body.count)")])
        if !isHead { send(body) }
    }

    /// Sends a whole response with a value as JSON.
    public func answer(_ status: String = "200 OK", _ fields: [(String, String)] = [], json value: some Encodable) {
        answer(status, fields + [("Content-Type", "application/json")], body: Array(Self.json(value).utf8))
    }

    /// Returns a value as one line of JSON with sorted keys.
    static func json(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return String(decoding: try encoder.encode(value), as: UTF8.self) } catch {
            fatalError("a value that a test server sends has no JSON: \(error)")
        }
    }

    /// Sends a content, or the range of it that a `GET` request asks for (RFC 9110, section 14.2).
    ///
    /// A client that already has the content receives only a 304 (RFC 9110, section 13.1).
    ///
    /// - Parameters:
    ///   - request: The request to answer.
    ///   - content: The whole content.
    ///   - tag: The entity tag of the content with its quotes, such as `"1"`.
    ///   - fields: Further fields of the answer.
    public func answer(
        _ request: ReceivedRequest, content: [UInt8], tag: String, _ fields: [(String, String)] = []
    ) {
        let fields = [("ETag", tag), ("Accept-Ranges", "bytes")] + fields
        let known = request["If-None-Match"]?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        if let known, !Set(known).isDisjoint(with: [tag, "W/\(tag)", "*"]) {
            return sendHead("304 Not Modified", fields)
        }
        let isRange = request.method == "GET" && (request["If-Range"] ?? tag) == tag
        guard isRange, let range = request.range(in: content.count) else {
            return answer("200 OK", fields, body: content)
        }
        guard !range.isEmpty else {
            return answer("416 Range Not Satisfiable", fields + [("Content-Range", "bytes */\(content.count)")])
        }
        let place = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(content.count)"
        answer("206 Partial Content", fields + [("Content-Range", place)], body: Array(content[range]))
    }

    /// Sends a chunk of a chunked body; an empty chunk ends the body, and the trailer fields follow.
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

    /// Sends text from any thread without waiting; ends the connection if the peer does not accept all of it.
    func push(_ text: String) {
        let bytes = Array(text.utf8)
        if Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)) != bytes.count { close() }
    }

    // MARK: Ending

    /// Closes the connection gracefully.
    public func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Closes the connection with a reset at the end of the script, so that unread data is lost.
    public func reset() {
        // Only a descriptor that is closed, rather than shut down, sends a reset.
        var lingering = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &lingering, socklen_t(MemoryLayout<linger>.size))
        wasReset = true
    }

    /// Waits until the peer has closed the connection.
    public func stall() {
        while fill() { received = [] }
    }

    /// Waits until the peer closes the connection or the server stops; returns `false` if the limit passes first.
    public func hasEnded(within limit: Duration) -> Bool {
        poll(0x2000, limit)  // POLLRDHUP, which the Glibc module does not have
    }

    /// Prepares the connection for closing, so that a peer that is still sending receives the answer first.
    func finish() {
        guard !wasReset, !wasLeft else { return }
        shutdown(descriptor, Int32(SHUT_WR))
        let end = ContinuousClock.now + .seconds(2)
        while poll(CShort(POLLIN), max(.zero, end - .now)), fill() { received = [] }
    }

    private func poll(_ events: CShort, _ limit: Duration) -> Bool {
        var watched = pollfd(fd: descriptor, events: events, revents: 0)
        return Glibc.poll(&watched, 1, Int32(clamping: Int(limit / .milliseconds(1)))) > 0
    }

    // MARK: Receiving

    /// Reads the head of the next request; returns `nil` at the end, or after refusing a malformed request.
    func nextHead() -> ReceivedRequest? {
        guard !wasReset, !wasLeft, !isLast, !hasUnreadBody else { return nil }
        guard let lines = nextLines() else {
            if !wasLeft { answer("431 Request Header Fields Too Large") }
            return nil
        }
        let start = lines.first?.split(separator: " ") ?? []
        var request = ReceivedRequest(method: "", target: "", fields: Self.fields(lines.dropFirst()))
        let length = request["Content-Length"].map { Int($0) ?? -1 } ?? 0
        guard start.count == 3, start[2].hasPrefix("HTTP/1."), length >= 0 else {
            answer("400 Bad Request")
            return nil
        }
        (request.method, request.target) = (String(start[0]), String(start[1]))
        isHead = request.method == "HEAD"
        isLast = start[2] == "HTTP/1.0" || request["Connection"]?.lowercased() == "close"
        expectsContinue = request["Expect"]?.lowercased() == "100-continue"
        hasChunks = request["Transfer-Encoding"]?.lowercased() == "chunked"
        unread = hasChunks ? 0 : length
        return request
    }

    private var hasUnreadBody: Bool { unread > 0 || hasChunks }

    /// Reads more of the current request's body, up to 64 KB.
    ///
    /// A client that waits for `100 Continue` receives it before the first piece is read.
    ///
    /// - Returns: The bytes, or `nil` at the end of the body. If the connection ends before that, ``wasLeft`` is set.
    public func nextPiece() -> [UInt8]? {
        if expectsContinue { send("HTTP/1.1 100 Continue\r\n\r\n") }
        if unread == 0, hasChunks {
            guard let line = nextLine(), let size = Int(line.prefix { $0 != ";" }, radix: 16), size >= 0 else {
                return abandon()
            }
            unread = size
            if size == 0 {
                guard nextLines() != nil else { return abandon() }
                hasChunks = false
            }
        }
        guard unread > 0 else { return nil }
        while received.isEmpty { guard fill() else { return nil } }
        let piece = Array(received.prefix(min(unread, 64 << 10)))
        received.removeFirst(piece.count)
        unread -= piece.count
        if unread == 0, hasChunks, nextLine() != "" { return abandon() }
        return piece
    }

    /// Returns a request with its body, for scripts that read bodies.
    ///
    /// - Parameters:
    ///   - request: The request, whose body has not been read.
    ///   - limit: The maximum size of the body, in bytes.
    /// - Returns: The request, or `nil` if the body is larger, or if the connection ends prematurely, which sets
    ///   ``wasLeft``.
    public func readBody(of request: ReceivedRequest, upTo limit: Int = 64 << 20) -> ReceivedRequest? {
        var request = request
        while request.body.count + unread <= limit {
            guard let piece = nextPiece() else {
                return wasLeft ? nil : request
            }
            request.body += piece
        }
        return nil
    }

    /// Abandons a peer whose body cannot be read.
    private func abandon() -> [UInt8]? {
        close()
        wasLeft = true
        return nil
    }

    private static func fields(_ lines: ArraySlice<String>) -> [(name: String, value: String)] {
        lines.map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (name: String(parts[0]), value: parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : "")
        }
    }

    /// Reads lines up to an empty line; returns `nil` at the end of the connection, or if the limit is exceeded.
    private func nextLines() -> [String]? {
        var lines: [String] = [], size = 0
        while size < Self.headLimit, let line = nextLine() {
            if line.isEmpty { return lines }
            lines.append(line)
            size += line.utf8.count
        }
        return nil
    }

    private func nextLine() -> String? {
        var searched = 0
        while true {
            if let end = received[searched...].firstIndex(of: 10) {
                defer { received.removeSubrange(...end) }
                let line = received[..<end]
                return String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
            }
            searched = received.count
            guard searched < Self.headLimit, fill() else { return nil }
        }
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

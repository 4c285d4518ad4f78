import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import BackplaneRecords
import BackplaneTestKit
import BackplaneTransfers
import Foundation
import Synchronization
import Testing

/// A folder of a test, and pools that download to it.
final class TransferFixture: Sendable {
    private let files: TestFolder
    var folder: String { files.path }

    init() throws { files = try TestFolder() }

    /// The path of a file in the folder.
    func path(_ name: String = "whale.epub") -> String { folder + "/" + name }

    /// The names of all files in the folder, hidden ones too.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted() }

    func bytes(_ name: String = "whale.epub") throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: path(name))))
    }

    static var network: HTTPPipeline {
        HTTPPipeline([AsyncHTTPClientExecutor(proxies: .none)])
    }

    /// Attempts without delays.
    static var options: TransferOptions {
        var options = TransferOptions()
        options.retry.base = .zero
        return options
    }

    func pool(
        _ store: any RecordStore = MemoryRecordStore(), options: TransferOptions = TransferFixture.options,
        by clock: TestClock? = nil
    ) async throws -> TransferPool {
        let retries = clock.map { Retries(clock: $0) } ?? Retries()
        return try await TransferPool(Self.network, store: store, options: options, retries: retries)
    }

    /// A download to the folder.
    func download(
        _ url: String, _ id: String = "whale", to name: String = "whale.epub",
        existing: ExistingFile = .replace, sha256: [UInt8]? = nil, sizeLimit: Int64? = nil
    ) -> Transfer {
        var transfer = Transfer(id, download: url, to: path(name))
        (transfer.existing, transfer.sha256, transfer.sizeLimit) = (existing, sha256, sizeLimit)
        return transfer
    }

    /// Bytes of which no two places look alike: each block begins with its number.
    static func content(_ count: Int, seed: Int = 0) -> [UInt8] {
        let size = 64, rest = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ seed) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + size)
        for number in 0...count / size {
            bytes.append(contentsOf: rest)
            withUnsafeBytes(of: UInt32(number)) { bytes.replaceSubrange(number * size..<number * size + 4, with: $0) }
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}

extension TransferPool {
    /// Waits for the final state of a transfer, and tells its server how many bytes there are.
    @discardableResult
    func end(of id: String = "whale", telling server: FileServer? = nil) async throws -> TransferState {
        var last: TransferState?
        for try await state in states(of: id) {
            server?.clientHas(state.bytes)
            last = state
        }
        return try #require(last)
    }

    /// Waits for a state that meets a condition.
    @discardableResult
    func state(of id: String = "whale", where isReached: (TransferState) -> Bool) async throws -> TransferState {
        for try await state in states(of: id) where isReached(state) { return state }
        Issue.record("there was no such state of \(id)")
        return try await state(of: id)
    }
}

/// A server of one file, with parts by `Range` and `If-Range`, which counts what it sends and can be made to lie.
final class FileServer: Sendable {
    /// An answer that a test can change before it is sent.
    struct Reply: Sendable {
        var status: String
        var fields: [String: String]
        var body: ArraySlice<UInt8>
        /// The place in the file that the body begins at.
        var start = 0
        /// The number of bytes of the body after which the connection is closed, once the client has them: some clients
        /// drop what they have not read yet when a connection ends.
        var cut: Int?
        /// Whether a cut waits for nothing.
        var isCutAtOnce = false
        /// The number of bytes of the body after which nothing is sent any more, until the client leaves.
        var stall: Int?
        /// Whether the bytes are sent one at a time.
        var drips = false
        var isChunked = false
    }
    struct Content: Sendable {
        var bytes: [UInt8]
        var tag: String?
    }
    struct Counts: Sendable {
        var requests = 0
        /// The bytes of bodies that were sent, or are being sent.
        var sent = 0
        /// The values of `Range`, empty where there was none.
        var ranges: [String] = []
        /// The requests whose last bytes are not being sent yet, and the most that there ever were.
        var open = 0, mostOpen = 0
        var targets: [String] = []
        /// The bytes that the client has, as the test has said.
        var taken: Int64 = 0
    }
    private let content: Mutex<Content>
    private let state = Mutex(Counts())
    private let server: Mutex<TestServer?> = Mutex(nil)
    private let clientBytes = NSCondition()

    /// Starts a server; `change` is called for each answer with its number, from 1.
    init(
        _ bytes: [UInt8], tag: String? = "\"1\"",
        _ change: @escaping @Sendable (inout Reply, Int) -> Void = { _, _ in }
    ) throws {
        content = Mutex(Content(bytes: bytes, tag: tag))
        let server = try TestServer { [weak self] request, connection in
            self?.answer(request, connection, change)
        }
        self.server.withLock { $0 = server }
    }

    deinit { server.withLock { $0?.stop() } }

    func url(_ path: String = "/whale.epub") -> String { server.withLock { $0?.url(path) ?? "" } }

    var counts: Counts { state.withLock { $0 } }

    /// Replaces the file.
    func change(_ bytes: [UInt8], tag: String?) { content.withLock { $0 = Content(bytes: bytes, tag: tag) } }

    /// Notes how many bytes of the file the client has.
    func clientHas(_ bytes: Int64) {
        clientBytes.withLock {
            state.withLock { $0.taken = max($0.taken, bytes) }
            clientBytes.broadcast()
        }
    }

    private func waitUntilClientHas(_ bytes: Int) {
        let end = Date(timeIntervalSinceNow: 60)
        clientBytes.withLock {
            while counts.taken < bytes { guard clientBytes.wait(until: end) else { return } }
        }
    }

    private func answer(
        _ request: ReceivedRequest, _ connection: TestConnection,
        _ change: (inout Reply, Int) -> Void
    ) {
        let content = content.withLock { $0 }
        let number = state.withLock { state in
            state.requests += 1
            state.open += 1
            state.mostOpen = max(state.mostOpen, state.open)
            state.ranges.append(request["Range"] ?? "")
            state.targets.append(request.target)
            return state.requests
        }
        var reply = Self.reply(to: request, content)
        change(&reply, number)
        send(reply, connection)
    }

    /// Answers as RFC 9110 says.
    private static func reply(to request: ReceivedRequest, _ content: Content) -> Reply {
        let count = content.bytes.count
        var reply = Reply(status: "200 OK", fields: ["Accept-Ranges": "bytes"], body: content.bytes[...])
        reply.fields["ETag"] = content.tag
        let isCurrent = request["If-Range"].map { $0 == content.tag } ?? true
        if isCurrent, let range = request["Range"], range.hasPrefix("bytes="),
            let from = Int(range.dropFirst("bytes=".count).prefix { $0 != "-" })
        {
            if from < count {
                reply.status = "206 Partial Content"
                (reply.body, reply.start) = (content.bytes[from...], from)
                reply.fields["Content-Range"] = "bytes \(from)-\(count - 1)/\(count)"
            } else {
                (reply.status, reply.body) = ("416 Range Not Satisfiable", [])
                reply.fields["Content-Range"] = "bytes */\(count)"
            }
        }
        reply.fields["Content-Length"] = "\(reply.body.count)"
        return reply
    }

    private func send(_ reply: Reply, _ connection: TestConnection) {
        var fields = reply.fields
        if reply.isChunked { (fields["Content-Length"], fields["Transfer-Encoding"]) = (nil, "chunked") }
        connection.send("HTTP/1.1 \(reply.status)\r\n" + fields.map { "\($0): \($1)\r\n" }.joined() + "\r\n")
        let end = min(reply.cut ?? .max, reply.stall ?? .max, reply.body.count)
        var rest = reply.body.prefix(end), isOpen = true
        while !rest.isEmpty, !connection.wasLeft {
            let piece = rest.prefix(reply.drips ? 1 : 16 << 10)
            rest = rest.dropFirst(piece.count)
            // Before the client has them: it may end, or send its next request, before this thread runs again.
            let isLast = rest.isEmpty
            state.withLock { state in
                state.sent += piece.count
                if isLast { state.open -= 1 }
            }
            if isLast { isOpen = false }
            if reply.isChunked { connection.sendChunk(Array(piece)) } else { connection.send(piece) }
            if connection.wasLeft { state.withLock { $0.sent -= piece.count } }
        }
        if isOpen { state.withLock { $0.open -= 1 } }
        if reply.stall != nil { return connection.stall() }
        if let cut = reply.cut {
            if !reply.isCutAtOnce { waitUntilClientHas(reply.start + cut) }
            return connection.close()
        }
        if reply.isChunked { connection.sendChunk([]) }
    }
}

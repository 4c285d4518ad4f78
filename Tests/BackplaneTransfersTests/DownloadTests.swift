import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Testing

@testable import BackplaneTransfers

/// The decisions of a download, without a server.
struct DownloadMachineTests {
    private static let request = HTTPRequest("GET", "http://books.test/whale.epub")
    private static let tag = "\"1\""

    private static func origin(_ validator: String? = tag, length: Int64? = 100) -> PartRecord {
        PartRecord(url: request.url, validator: validator, length: length)
    }

    private static func machine(
        _ count: Int64 = 40, _ origin: PartRecord? = origin(), attempts: Int = 5
    ) -> DownloadMachine {
        DownloadMachine(request, RetryPolicy(attempts: attempts), origin: origin, count: count, hadBytes: count > 0)
    }

    private static func text(_ action: DownloadMachine.Action) -> String {
        switch action {
        case .ask(let asked): asked.map { "ask \($0.from) \($0.validator)" } ?? "ask"
        case .begin(let origin): "begin \(origin.validator ?? "-") \(origin.length ?? -1)"
        case .append: "append"
        case .again: "again"
        case .finish: "finish"
        case .fail(let error): "fail \(error.code)"
        }
    }

    private static func answered(
        _ machine: inout DownloadMachine, _ status: Int, _ headers: HTTPHeaders
    ) -> String {
        text(machine.answered(status, headers, now: Date(timeIntervalSince1970: 0), random: 0))
    }

    @Test(
        arguments: [
            // What is there, and what is asked for.
            (nil, 0, "ask", nil), (origin(), 40, "ask 40 \"1\"", nil), (origin(), 100, "finish", nil),
            (origin(nil), 40, "ask", .noValidator), (origin(length: nil), 40, "ask 40 \"1\"", nil),
            (PartRecord(url: "http://books.test/other", validator: tag, length: 100), 40, "ask", .partUnusable),
            (origin(), 101, "ask", .partUnusable),
        ] as [(PartRecord?, Int64, String, RestartReason?)])
    func `a part is asked for only if it is of this URL and of a version that can be named`(
        origin: PartRecord?, count: Int64, expected: String, restart: RestartReason?
    ) {
        var machine = Self.machine(count, origin)
        #expect(Self.text(machine.next()) == expected)
        #expect(machine.takeRestart() == restart)
    }

    @Test(
        arguments: [
            // An answer to a request for what follows byte 40 of 100.
            (206, ["ETag": tag, "Content-Range": "bytes 40-99/100"], "append", nil),
            (206, ["ETag": tag, "Content-Range": "bytes 40-99/100", "Content-Length": "60"], "append", nil),
            (206, ["Content-Range": "bytes 40-99/*"], "append", nil),
            (206, ["ETag": tag, "Content-Range": "bytes 40-59/100"], "append", nil),
            (206, ["ETag": tag, "Content-Range": "bytes 39-99/100"], "again", .wrongRange),
            (206, ["ETag": tag, "Content-Range": "bytes 41-99/100"], "again", .wrongRange),
            (206, ["ETag": tag, "Content-Range": "bytes 40-100/100"], "again", .wrongRange),
            (206, ["ETag": tag, "Content-Range": "bytes 40-99/100", "Content-Length": "61"], "again", .wrongRange),
            (206, ["ETag": tag, "Content-Range": "bytes 40-98/99"], "again", .changed),
            (206, ["ETag": "\"2\"", "Content-Range": "bytes 40-99/100"], "again", .changed),
            (206, ["ETag": tag], "again", .wrongRange),
            (206, ["ETag": tag, "Content-Range": "lines 40-99/100"], "again", .wrongRange),
            (206, ["ETag": tag, "Content-Type": "multipart/byteranges; boundary=a"], "again", .wrongRange),
            (200, ["ETag": "\"2\"", "Content-Length": "90"], "begin \"2\" 90", .changed),
            (200, ["ETag": tag, "Content-Length": "90"], "begin \"1\" 90", .changed),
            (200, ["ETag": tag, "Content-Length": "100"], "begin \"1\" 100", .noRanges),
            (200, [:], "begin - -1", .changed),
            // White space at the end is no part of a value.
            (206, ["ETag": "\(tag) ", "Content-Range": "bytes 40-99/100\t", "Content-Length": "60 "], "append", nil),
            // A range is a range, whatever the status says.
            (200, ["ETag": tag, "Content-Range": "bytes 40-99/100"], "append", nil),
            (203, ["ETag": tag, "Content-Range": "bytes 41-99/100"], "again", .wrongRange),
            (200, ["ETag": "\"2\"", "Content-Range": "bytes 40-99/100"], "again", .changed),
            // The whole, although a part was asked for.
            (206, ["ETag": tag, "Content-Range": "bytes 0-99/100"], "begin \"1\" 100", .noRanges),
            (206, ["ETag": "\"2\"", "Content-Range": "bytes 0-89/90"], "begin \"2\" 90", .changed),
            (416, ["Content-Range": "bytes */40"], "again", .wrongRange),
            (416, ["Content-Range": "bytes */100"], "again", .wrongRange), (204, [:], "fail network.status", nil),
            (404, [:], "fail network.status", nil), (503, [:], "again", nil), (304, [:], "fail network.status", nil),
        ] as [(Int, HTTPHeaders, String, RestartReason?)])
    func `an answer to a part is appended only if it is that part of that version`(
        status: Int, headers: HTTPHeaders, expected: String, restart: RestartReason?
    ) {
        var machine = Self.machine()
        _ = machine.next()
        #expect(Self.answered(&machine, status, headers) == expected)
        #expect(machine.takeRestart() == restart)
        #expect(machine.count == (restart == nil ? 40 : 0))
    }

    @Test func `after a wrong answer to a part, the whole file is asked for, and wrong answers end`() {
        var machine = Self.machine(attempts: 3), steps: [String] = []
        for _ in 0..<3 {
            steps.append(Self.text(machine.next()))
            steps.append(Self.answered(&machine, 206, ["Content-Range": "bytes 0-1/100"]))
        }
        // A part that nobody asked for is no answer.
        #expect(steps.prefix(4) == ["ask 40 \"1\"", "again", "ask", "fail network.malformed"])
    }

    @Test func `the whole file may come as a range, but no other range for the whole file`() {
        for status in [200, 206] {
            for (range, expected) in [
                ("bytes 0-99/100", "begin \"1\" 100"), ("bytes 0-99/*", "fail network.malformed"),
                ("bytes 0-98/100", "fail network.malformed"), ("bytes */100", "fail network.malformed"),
            ] {
                var machine = Self.machine(0, nil)
                _ = machine.next()
                let headers: HTTPHeaders = ["ETag": "\(Self.tag) ", "Content-Range": range]
                #expect(Self.answered(&machine, status, headers) == expected, "\(status) \(range)")
            }
        }
    }

    @Test func `a part of unknown length is complete if nothing follows it`() {
        for (headers, expected) in [
            (["Content-Range": "bytes */40"], "finish"), (["Content-Range": "bytes */41"], "again"),
            (["Content-Range": "bytes */40", "ETag": "\"2\""], "again"), ([:], "again"),
        ] as [(HTTPHeaders, String)] {
            var machine = Self.machine(40, Self.origin(length: nil))
            _ = machine.next()
            #expect(Self.answered(&machine, 416, headers) == expected, "\(headers)")
        }
    }

    @Test func `a weak tag and a date of the same second are no validators`() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT", later = "Sun, 06 Nov 1994 08:49:38 GMT"
        let cases: [(HTTPHeaders, String?)] = [
            (["ETag": "\"a\""], "\"a\""), (["ETag": " \"a\"\t "], "\"a\""), (["ETag": "W/\"a\""], nil),
            (["ETag": "a"], nil), (["ETag": "\""], nil),
            (["ETag": "\"a\"b\""], nil), (["ETag": "\"\(String(repeating: "a", count: 2_000))\""], nil),
            (["ETag": "\"a\"", "etag": "\"b\""], nil),
            (["Last-Modified": date, "Date": later], date), (["Last-Modified": date, "Date": date], nil),
            (["Last-Modified": later, "Date": date], nil), (["Last-Modified": date], nil),
            (["ETag": "W/\"a\"", "Last-Modified": date, "Date": later], nil),
        ]
        for (headers, expected) in cases { #expect(PartRecord.strongValidator(headers) == expected, "\(headers)") }
    }

    @Test func `what breaks off is asked for where it ended, and attempts without an advance end`() throws {
        var machine = Self.machine(0, nil, attempts: 3)
        _ = machine.next()
        #expect(Self.answered(&machine, 200, ["ETag": Self.tag, "Content-Length": "300000"]) == "begin \"1\" 300000")
        var steps: [String] = []
        for bytes in [70_000, 1, 1, 1] {
            try machine.arrived(bytes)
            steps.append(Self.text(machine.ended(BackplaneError(.networkFailed, ""), random: 0)))
            steps.append(Self.text(machine.next()))
            let end = "bytes \(machine.count)-299999/300000"
            _ = Self.answered(&machine, 206, ["Content-Range": end])
        }
        #expect(
            steps == [
                "again", "ask 70000 \"1\"", "again", "ask 70001 \"1\"", "fail network.failed", "ask 70002 \"1\"",
                "fail network.failed", "ask 70003 \"1\"",
            ])
    }

    @Test func `more bytes than were announced are an error, and nothing of them is kept`() throws {
        var machine = Self.machine()
        _ = machine.next()
        #expect(Self.answered(&machine, 206, ["Content-Range": "bytes 40-99/100"]) == "append")
        try machine.arrived(60)
        let error = #expect(throws: BackplaneError.self) { try machine.arrived(1) }
        #expect(error?.code == .networkMalformed)
        #expect(machine.count == 0)
        #expect(Self.text(machine.next()) == "ask")
    }

    @Test func `a wrong digest of a file from several responses begins anew once, of one response never`() throws {
        var machine = Self.machine()
        _ = machine.next()
        _ = Self.answered(&machine, 206, ["Content-Range": "bytes 40-99/100"])
        try machine.arrived(60)
        #expect(Self.text(machine.ended(nil, random: 0)) == "finish")
        #expect(Self.text(machine.hadWrongDigest()) == "again")
        #expect(machine.takeRestart() == .wrongDigest)
        #expect(Self.text(machine.next()) == "ask")
        _ = Self.answered(&machine, 200, ["ETag": Self.tag, "Content-Length": "100"])
        #expect(Self.text(machine.hadWrongDigest()) == "fail transfer.digest")
    }

    @Test(
        arguments: [
            ("bytes 0-0/1", 0, 0, 1), ("BYTES 1-2/3", 1, 2, 3), ("bytes 1-2/*", 1, 2, nil),
        ] as [(String, Int64, Int64, Int64?)])
    func `a content range`(text: String, first: Int64, last: Int64, total: Int64?) {
        let range = ContentRange(text)
        #expect(range?.first == first && range?.last == last && range?.total == total)
    }

    @Test(arguments: [
        "", "bytes", "bytes */10", "bytes 2-1/10", "bytes 0-10/10", "bytes -1-2/10", "bytes 0-1", "bytes 0-1/",
        "bytes +0-1/10", "bytes 0-99999999999999999999/*", "bytes 0-9223372036854775807/*", "bytes 0-1/10 more",
        "bytes a-b/c", "items 0-1/10",
    ])
    func `what is no content range`(text: String) { #expect(ContentRange(text) == nil) }
}

/// Downloads from servers that break off, lie and change, into folders that do the same.
@Suite(.timeLimit(.minutes(5)))
struct DownloadTests {
    private let fixture: TransferFixture

    init() throws { fixture = try TransferFixture() }

    /// Downloads from a server, and expects the file to be there whole, and nothing else.
    @discardableResult
    private func expectWhole(
        _ server: FileServer, _ content: [UInt8], sha256: [UInt8]? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> TransferState {
        let pool = try await fixture.pool()
        try await pool.begin(fixture.download(server.url(), sha256: sha256))
        let state = try await pool.end(telling: server)
        #expect(state.phase == .succeeded, "\(String(describing: state.error))", sourceLocation: sourceLocation)
        #expect(state.progress == 1 && state.file == fixture.path(), sourceLocation: sourceLocation)
        #expect(try fixture.bytes() == content, sourceLocation: sourceLocation)
        #expect(fixture.names == ["whale.epub"], sourceLocation: sourceLocation)
        await pool.stop()
        return state
    }

    private func expectFailure(_ server: FileServer, _ code: BackplaneError.Code) async throws -> TransferState {
        let pool = try await fixture.pool()
        try await pool.begin(fixture.download(server.url()))
        let state = try await pool.end(telling: server)
        #expect(state.phase == .failed && state.error?.code == code, "\(state)")
        #expect(!fixture.names.contains("whale.epub"))
        await pool.stop()
        return state
    }

    @Test(arguments: [0, 1, 100_000, 3_000_000])
    func `a file arrives whole, and only its owner can read it`(count: Int) async throws {
        let content = TransferFixture.content(count), server = try FileServer(content)
        let state = try await expectWhole(server, content)
        #expect(state.bytes == count && state.total == Int64(count) && state.restart == nil)
        #expect(server.counts.requests == 1 && server.counts.sent == count)
        let mode = try FileManager.default.attributesOfItem(atPath: fixture.path())[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `a file that exists is kept without a request, numbered or replaced`() async throws {
        let content = TransferFixture.content(1_000), server = try FileServer(content)
        try await expectWhole(server, content)
        let pool = try await fixture.pool()
        try await pool.begin(fixture.download(server.url("/b"), "b", existing: .keep))
        let kept = try await pool.end(of: "b")
        #expect(kept.phase == .succeeded && kept.wasKept && kept.file == fixture.path())
        #expect(server.counts.requests == 1)
        try await pool.begin(fixture.download(server.url("/c"), "c", existing: .number))
        #expect(try await pool.end(of: "c").file == fixture.path("whale-2.epub"))
        server.change([1, 2, 3], tag: "\"2\"")
        try await pool.begin(fixture.download(server.url("/d"), "d"))
        #expect(try await pool.end(of: "d").phase == .succeeded)
        #expect(try fixture.bytes() == [1, 2, 3] && fixture.bytes("whale-2.epub") == content)
        await pool.stop()
    }

    @Test func `a connection that breaks off after any byte costs one request and no byte`()
        async throws
    {
        let content = TransferFixture.content(60)
        for cut in 0..<content.count {
            let server = try FileServer(content) { reply, number in if number == 1 { reply.cut = cut } }
            try await expectWhole(server, content)
            #expect(server.counts.ranges == ["", cut > 0 ? "bytes=\(cut)-" : ""])
            #expect(server.counts.sent == content.count)
        }
    }

    @Test func `a file that changes while it is loaded arrives as one version, and that is said`() async throws {
        let first = TransferFixture.content(100_000), second = TransferFixture.content(90_000, seed: 5)
        let server = try FileServer(first) { reply, number in if number == 1 { reply.cut = 50_000 } }
        let pool = try await fixture.pool()
        var options = TransferFixture.options
        options.retry.attempts = 1
        let once = try await fixture.pool(options: options)
        try await once.begin(fixture.download(server.url()))
        #expect(try await once.end(telling: server).phase == .failed)
        server.change(second, tag: "\"2\"")
        try await pool.begin(fixture.download(server.url()))
        let state = try await pool.end()
        #expect(state.phase == .succeeded && state.restart == .changed)
        #expect(try fixture.bytes() == second)
    }

    @Test(arguments: ["404 Not Found", "401 Unauthorized", "204 No Content", "304 Not Modified"])
    func `a status that is no file is an error`(status: String) async throws {
        let server = try FileServer([1]) { reply, _ in
            reply.status = status
            if ["204", "304"].contains(status.prefix(3)) { (reply.body, reply.fields["Content-Length"]) = ([], nil) }
        }
        let state = try await expectFailure(server, .networkStatus)
        #expect(state.error?.httpStatus == Int(status.prefix(3)))
        #expect(fixture.names == [], "nothing is left where nothing came")
        #expect(server.counts.requests == 1)
    }

    @Test func `further attempts are taken from the budget of the host, except after progress`() async throws {
        let content = TransferFixture.content(2_000_000), requests = Recording<Int>()
        let network = HTTPPipeline(
            [
                MemoryExecutor { request, _ in
                    let from = Int((request.headers["Range"] ?? "").dropFirst("bytes=".count).dropLast()) ?? 0
                    requests.add(from)
                    guard from < 1_500_000 else { throw BackplaneError(.networkFailed, "the server is away") }
                    var headers: HTTPHeaders = ["ETag": "\"1\"", "Content-Length": "\(2_000_000 - from)"]
                    if from > 0 { headers["Content-Range"] = "bytes \(from)-1999999/2000000" }
                    let body = HTTPBody.bytes(Array(content[from..<from + 100_000]))
                    return HTTPStreamedResponse(status: from > 0 ? 206 : 200, headers: headers, body: try body.open())
                }
            ], retries: Retries(clock: TestClock()))
        var options = TransferFixture.options
        options.retry.attempts = 100
        let pool = try await TransferPool(network, options: options)
        try await pool.begin(fixture.download("http://books.test/whale"))
        let state = try await pool.end()
        #expect(state.error?.code == .networkFailed && state.bytes == 1_500_000)
        // Fifteen with progress, a first one without, and ten from the budget.
        #expect(requests.all.count == 26)
    }

    @Test func `a server that is overloaded is asked again when it says`() async throws {
        let clock = TestClock(), pool = try await fixture.pool(by: clock)
        let server = try FileServer(TransferFixture.content(1_000)) { reply, number in
            if number < 3 { (reply.status, reply.fields["Retry-After"]) = ("503 Service Unavailable", "7") }
        }
        try await pool.begin(fixture.download(server.url()))
        for _ in 1...2 { try await clock.expire(.seconds(7)) }
        #expect(try await pool.end(telling: server).phase == .succeeded)
        #expect(server.counts.requests == 3)
    }

    @Test func `a file beyond the limit is not loaded, whether or not its size is announced`() async throws {
        for isChunked in [false, true] {
            let server = try FileServer(TransferFixture.content(100_000)) { reply, _ in reply.isChunked = isChunked }
            let pool = try await fixture.pool()
            try await pool.begin(fixture.download(server.url(), sizeLimit: 99_999))
            #expect(try await pool.end().error?.code == .networkTooLarge)
        }
    }

    @Test func `a folder that is gone, and one that is a file, are errors`() async throws {
        let server = try FileServer([1])
        try FileManager.default.createDirectory(atPath: fixture.path("folder"), withIntermediateDirectories: false)
        for name in ["gone/whale.epub", "folder"] {
            let pool = try await fixture.pool()
            try await pool.begin(fixture.download(server.url(), name, to: name))
            let state = try await pool.end(of: name)
            #expect(state.phase == .failed && state.error?.code == .networkFile)
            #expect(state.error?.location == fixture.path(name))
        }
        #expect(server.counts.requests == 0)
    }

    @Test(arguments: ["shortened", "grown", "removed"])
    func `a part that somebody else has shortened, extended or removed leads to no wrong file`(change: String)
        async throws
    {
        let content = TransferFixture.content(1_000_000)
        let server = try FileServer(content) { reply, number in if number == 1 { reply.stall = 700_000 } }
        let pool = try await fixture.pool()
        try await pool.begin(fixture.download(server.url()))
        try await pool.state { $0.bytes == 700_000 }
        try await pool.pause("whale")
        let name = try #require(fixture.names.first { $0.hasPrefix(".backplane-part-") && !$0.hasSuffix(".json") })
        let file = URL(filePath: fixture.path(name))
        var bytes = try fixture.bytes(name)
        #expect(bytes == Array(content.prefix(700_000)))
        switch change {
        case "shortened": bytes.removeLast(300_000)
        default: bytes += [UInt8](repeating: 7, count: 100_000)
        }
        if change == "removed" {
            try FileManager.default.removeItem(at: file)
        } else {
            try Data(bytes).write(to: file)
        }
        try await pool.resume("whale")
        let state = try await pool.end()
        #expect(state.phase == .succeeded)
        #expect(try fixture.bytes() == content)
        #expect(fixture.names == ["whale.epub"])
    }

    @Test func `a digest is compared, and a file with another one does not appear`() async throws {
        let content = TransferFixture.content(100_000), server = try FileServer(content)
        let right = ContentDigest.sha256(of: content)
        try await expectWhole(server, content, sha256: right)
        let pool = try await fixture.pool()
        let wrong = right.map { $0 ^ 1 }
        try await pool.begin(fixture.download(server.url(), "b", to: "b.epub", sha256: wrong))
        let state = try await pool.end(of: "b")
        #expect(state.phase == .failed && state.error?.code == .transferDigest)
        #expect(fixture.names == ["whale.epub"])
    }
}

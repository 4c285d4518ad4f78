import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import BackplaneTransfers
import Foundation
import Testing

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

    // MARK: The file

    @Test func `a file that exists is replaced, kept or numbered`() async throws {
        let content = TransferFixture.content(1_000), server = try FileServer(content)
        try await expectWhole(server, content)
        let pool = try await fixture.pool()
        try await pool.begin(fixture.download(server.url("/b"), "b", existing: .keep))
        let kept = try await pool.end(of: "b")
        #expect(kept.phase == .succeeded && kept.wasKept && kept.file == fixture.path())
        #expect(server.counts.requests == 1, "nothing is fetched")
        try await pool.begin(fixture.download(server.url("/c"), "c", existing: .number))
        #expect(try await pool.end(of: "c").file == fixture.path("whale-2.epub"))
        server.change([1, 2, 3], tag: "\"2\"")
        try await pool.begin(fixture.download(server.url("/d"), "d", existing: .replace))
        #expect(try await pool.end(of: "d").phase == .succeeded)
        #expect(try fixture.bytes() == [1, 2, 3])
        #expect(try fixture.bytes("whale-2.epub") == content)
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

    // MARK: The digest

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

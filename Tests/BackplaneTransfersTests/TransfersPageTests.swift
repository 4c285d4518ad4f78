import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneHost
import BackplaneNetwork
import BackplaneRecords
import BackplaneTestKit
import BackplaneTransfers
import Foundation
import Testing

/// The page on transfers (docs/transfers.md): each of its snippets stands in this file, and runs.
@Suite(.timeLimit(.minutes(5)))
struct TransfersPageTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../docs/transfers.md")
    private let fixture: TransferFixture

    init() throws { fixture = try TransferFixture() }

    @Test func `every snippet of the page is one of these`() throws {
        func lines(_ text: some StringProtocol) -> [String] {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
        let source = lines(try String(contentsOf: URL(filePath: #filePath), encoding: .utf8))
        let blocks = try String(contentsOf: Self.page, encoding: .utf8).split(separator: "```swift\n").dropFirst()
        #expect(blocks.count == 8)
        for block in blocks {
            let snippet = lines(block.prefix(upTo: try #require(block.range(of: "```")).lowerBound))
            #expect(source.firstRange(of: snippet) != nil, "\(snippet.joined(separator: "\n"))")
        }
    }

    @Test func `every reason to begin anew is on the page`() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let rows = text.split(separator: "\n").compactMap { $0.firstMatch(of: #/^\| `([a-z-]+)` \| /#)?.1 }
        let reasons: [RestartReason] = [
            .changed, .noRanges, .noValidator, .wrongRange, .partUnusable, .wrongDigest, .upload,
        ]
        #expect(rows.contains("changed"))
        for reason in reasons { #expect(rows.contains { $0 == reason.rawValue }, "\(reason)") }
    }

    /// A bar for the progress.
    struct Bar: Sendable {
        let steps: Recording<Double>
        func show(_ progress: Double, _ left: Duration?) { steps.add(progress) }
    }

    @Test func `the text of a book, with progress, found by its id`() async throws {
        let content = TransferFixture.content(500_000), server = try FileServer(content)
        let url = server.url(), path = fixture.path(), store = MemoryRecordStore(), bar = Bar(steps: Recording())
        let pool = try await TransferPool(HTTPPipeline([AsyncHTTPClientExecutor()]), store: store)
        let text = Transfer("text/whale.epub", .download(HTTPRequest("GET", url), to: path))
        try await pool.begin(text)
        for await state in try await pool.states(of: "text/whale.epub") {
            bar.show(state.progress ?? 0, state.timeLeft)
        }
        #expect(bar.steps.all.last == 1 && bar.steps.all == bar.steps.all.sorted())
        #expect(try fixture.bytes() == content)

        let digest = ContentDigest.sha256(of: content)
        let settings = Transfer.Download(existing: .number, sha256: digest)
        try await pool.begin(Transfer("text/moby.epub", .download(HTTPRequest("GET", url), to: path, settings)))
        #expect(try await pool.end(of: "text/moby.epub").file == fixture.path("whale-2.epub"))
    }

    @Test func `a cover and a form`() async throws {
        let path = fixture.path("whale.png"), received = Recording<ReceivedRequest>()
        try Data(TransferFixture.content(1_000)).write(to: URL(filePath: path))
        let server = try TestServer { request, connection in
            received.add(request)
            connection.answer("204 No Content")
        }
        let pool = try await fixture.pool(), url = server.url()
        let cover = HTTPRequest("PUT", url, body: .file(path, type: "image/png"))
        try await pool.begin(Transfer("covers/whale.png", .upload(cover)))
        let form = HTTPRequest("POST", url, body: .multipart([.text("title", "Moby-Dick"), .file("cover", path)]))
        try await pool.begin(Transfer("forms/whale", .upload(form), owner: "BooksAPI", priority: 1))
        for id in ["covers/whale.png", "forms/whale"] { #expect(try await pool.end(of: id).phase == .succeeded) }
        let requests = received.all.sorted { $0.method > $1.method }
        #expect(requests.map(\.method) == ["PUT", "POST"] && requests[0]["Content-Type"] == "image/png")
        #expect(requests[0].body == TransferFixture.content(1_000))
    }

    @Test func `a transfer is paused, resumed, cancelled and forgotten`() async throws {
        let server = try FileServer(TransferFixture.content(500_000)) { reply, _ in reply.stall = 200_000 }
        let pool = try await fixture.pool()
        try await pool.begin(fixture.download(server.url(), "text/whale.epub"))
        try await pool.state(of: "text/whale.epub") { $0.bytes == 200_000 }
        try await pool.pause("text/whale.epub")  // returns once the received bytes are on the disk
        try await pool.resume("text/whale.epub")
        let state = try await pool.state(of: "text/whale.epub")
        try await pool.cancel("text/whale.epub")  // removes the partial file
        try await pool.remove("text/whale.epub")  // removes the transfer from the pool
        let count = try await pool.clear()  // removes all finished ones; their files remain
        #expect(state.phase == .running && count == 0 && fixture.names == [])
    }

    struct FileLoads: Sendable {
        let pool: TransferPool
        let server: String

        func download(_ file: String, to path: String) async throws -> AsyncStream<TransferState> {
            let request = HTTPRequest("GET", "\(server)/files/\(file)")
            try await pool.begin(Transfer("download/\(file)", .download(request, to: path)))
            return try await pool.states(of: "download/\(file)")
        }

        func upload(_ file: String, from path: String) async throws -> AsyncStream<TransferState> {
            let request = HTTPRequest("POST", "\(server)/files/\(file)", body: .multipart([.file("file", path)]))
            try await pool.begin(Transfer("upload/\(file)", .upload(request)))
            return try await pool.states(of: "upload/\(file)")
        }
    }

    @Test func `a file is downloaded and uploaded with progress, and found again by its id`() async throws {
        let content = TransferFixture.content(2_000_000), received = Recording<ReceivedRequest>()
        let server = try TestServer { request, connection in
            received.add(request)
            connection.answer("200 OK", body: request.method == "GET" ? content : [])
        }
        let path = fixture.path(), store = MemoryRecordStore()
        let files = FileLoads(pool: try await fixture.pool(store), server: server.url(""))
        let down = Bar(steps: Recording()), bar = Bar(steps: Recording())
        for await state in try await files.download("42", to: path) { down.show(state.progress ?? 0, state.timeLeft) }
        #expect(try fixture.bytes() == content)
        for await state in try await files.upload("42", from: path) { bar.show(state.progress ?? 0, state.timeLeft) }
        for steps in [down.steps.all, bar.steps.all] { #expect(steps.last == 1 && steps == steps.sorted()) }
        #expect(received.all.map(\.method) == ["GET", "POST"])
        #expect(received.all.last?.body.count ?? 0 > content.count)

        await files.pool.stop()

        // Another pool with the same store, as after a restart, finds both of them, and sends nothing.
        let later = FileLoads(pool: try await fixture.pool(store), server: server.url(""))
        for states in [try await later.download("42", to: path), try await later.upload("42", from: path)] {
            let all = await states.reduce(into: []) { $0.append($1.phase) }
            #expect(all == [.succeeded])
        }
        #expect(received.all.count == 2)
    }

    @Test func `the program that runs a host has its pool`() async throws {
        let content = TransferFixture.content(1_000), server = try FileServer(content)
        let host = PluginHost(
            manifest: Manifest(plugins: [], managers: [:]),
            options: HostOptions(
                loadFolder: fixture.path("load"), dataFolder: fixture.path("data"),
                executors: [AsyncHTTPClientExecutor(proxies: .none)]))
        let whale = Transfer(
            "org.example.books/text/whale", .download(HTTPRequest("GET", server.url()), to: fixture.path()))
        try await host.transferPool().begin(whale)
        var last: TransferState?
        let pool = try await host.transferPool()
        for await state in try await pool.states(of: "org.example.books/text/whale") { last = state }
        #expect(last?.phase == .succeeded && !pool.isPersistent)
        #expect(try fixture.bytes() == content)
        await host.stop()
        let stopped = await #expect(throws: BackplaneError.self) { try await host.transferPool() }
        #expect(stopped?.code == .hostStopped)
    }

    func begin(_ file: String, _ transfers: TransferClient, from url: String) async throws {
        let whole = HTTPRequest("GET", "\(url)/files/\(file)")
        try await transfers.begin(Transfer("files/\(file)", .download(whole, to: "\(file).epub")))
    }

    func follow(_ file: String, _ transfers: TransferClient, _ elements: StreamSender<TransferState>) async throws {
        try await elements.send(contentsOf: transfers.states(of: "files/\(file)"))
    }

    @Test func `a program has the client of components for its own pool`() async throws {
        let server = try FileServer(TransferFixture.content(1_000)), pool = try await fixture.pool()
        let file = fixture.path("whale"), client = pool.client
        try await begin(file, client, from: server.url(""))
        var last: TransferState?
        for try await state in client.states(of: "files/\(file)") { last = state }
        #expect(last?.phase == .succeeded && last?.storedFile?.size == 1_000)
        #expect(try fixture.bytes("whale.epub") == TransferFixture.content(1_000))
        try await client.remove("files/\(file)")
        let unknown = await #expect(throws: BackplaneError.self) { try await client.pause("files/\(file)") }
        #expect(unknown?.code == .transferUnknown)
    }
}

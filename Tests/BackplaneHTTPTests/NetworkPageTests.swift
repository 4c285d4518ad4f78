import Backplane
import BackplaneConformance
import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import BackplaneTestKit
import BackplaneURLSession
import Foundation
import Testing

/// The page on endpoints (docs/network.md): each of its snippets stands in this file, and runs.
@Suite(.timeLimit(.minutes(5)))
struct NetworkPageTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../docs/network.md")

    @Test func `every snippet of the page is one of these`() throws {
        func lines(_ text: some StringProtocol) -> [String] {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
        let source = lines(try String(contentsOf: URL(filePath: #filePath), encoding: .utf8))
        let blocks = try String(contentsOf: Self.page, encoding: .utf8).split(separator: "```swift\n").dropFirst()
        #expect(blocks.count == 20)
        for block in blocks {
            let snippet = lines(block.prefix(upTo: try #require(block.range(of: "```")).lowerBound))
            #expect(source.firstRange(of: snippet) != nil, "\(snippet.joined(separator: "\n"))")
        }
    }

    struct Pharmacy: Decodable, Sendable, Equatable {
        var name: String
    }

    struct Report: Decodable, Sendable {
        var isComplete: Bool
    }

    struct Quota: ParsedResponse {
        var left: Int

        static func parse(_ response: HTTPResponse) throws -> Quota {
            Quota(left: response.headers["X-Left"].flatMap { Int($0) } ?? 0)
        }
    }

    /// What a plugin's method does with its context's client and the call that it serves.
    static func find(_ http: BackplaneNetwork.HTTPClient, _ call: Call) async throws -> [Pharmacy] {
        let search = Endpoint<[Pharmacy]>("GET", "pharmacies", query: ["zip": "1011"])
        let pharmacies = try await http.load(search, call)
        return pharmacies
    }

    @Test func `a search by ZIP code, in a plugin and in a program`() async throws {
        let remote = try TestServer { request, connection in
            let isRight = request.target == "/v2/pharmacies?zip=1011"
            connection.answer(isRight ? "200 OK" : "404 Not Found", body: Array(#"[{"name":"Löwen"}]"#.utf8))
        }
        let server = remote.url("")
        try await LendingPlugin.lent(.asyncHTTPClient) { _, context in
            let found = try await Self.find(context.http.relative(to: "\(server)/v2"), context.begin())
            #expect(found == [Pharmacy(name: "Löwen")])
        }
        let search = Endpoint<[Pharmacy]>("GET", "pharmacies", query: ["zip": "1011"])
        let http = HTTPClient([AsyncHTTPClientExecutor()]).relative(to: "\(server)/v2")
        let found = try await http.load(search)
        #expect(found == [Pharmacy(name: "Löwen")])
    }

    struct Book: Decodable, Sendable {
        var title, author: String
    }

    @Test func `a list into models`() async throws {
        let remote = try TestServer { request, connection in
            let isRight = request.target == "/v2/books"
            let body = #"[{"title":"Moby-Dick","author":"Melville"}]"#
            connection.answer(isRight ? "200 OK" : "404 Not Found", body: Array(body.utf8))
        }
        let server = remote.url(""), screen = Screen(steps: Recording())
        let http = HTTPClient([URLSessionExecutor()]).relative(to: "\(server)/v2")
        let books = try await http.load(Endpoint<[Book]>("GET", "books"))
        for book in books { screen.show("\(book.title) by \(book.author)") }
        #expect(screen.steps.all == ["Moby-Dick by Melville"])
    }

    struct Pharmacies: Sendable {
        var http: HTTPClient

        func near(_ zip: String) async throws -> [Pharmacy] {
            do {
                return try await http.load(Endpoint("GET", "pharmacies", query: ["zip": zip]))
            } catch {
                guard error.httpStatus == 404 else { throw error }
                return []
            }
        }
    }

    @Test func `a search that may find nothing`() async throws {
        let server = try TestServer { request, connection in
            let isRight = request.target == "/pharmacies?zip=1011%20AB"
            connection.answer(isRight ? "200 OK" : "404 Not Found", body: Array(#"[{"name":"Löwen"}]"#.utf8))
        }
        let pharmacies = Pharmacies(http: HTTPClient([AsyncHTTPClientExecutor()]).relative(to: server.url()))
        #expect(try await pharmacies.near("1011 AB") == [Pharmacy(name: "Löwen")])
        #expect(try await pharmacies.near("9999") == [])
        server.stop()
        let error = await #expect(throws: BackplaneError.self) { try await pharmacies.near("1011 AB") }
        #expect(error?.isConnectivity == true)
    }

    @Test func `an image that is awaited`() async throws {
        let server = try TestServer { $1.answer("200 OK", body: Array("PNG".utf8)) }
        let folder = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path + "/whale.png", bar = Screen(steps: Recording()), view = Screen(steps: Recording())
        let http = HTTPClient([AsyncHTTPClientExecutor()]).relative(to: server.url()), call = Call()
        let cover = Endpoint<DownloadedFile>("GET", "covers/whale.png", to: path)
        let image = try await http.load(cover, call) { progress in bar.show(progress.received, of: progress.toReceive) }
        view.show(image.path)
        #expect(view.steps.all == [path] && bar.steps.all.last == "3 of 3")
    }

    @Test func `an executor without a network, and a log`() async throws {
        let shelf = MemoryExecutor { request, _ in
            let body = #"[{"title":"Moby-Dick","author":"Melville"}]"#
            return HTTPStreamedResponse(HTTPResponse(status: 200, body: Array(body.utf8)))
        }
        let preview = HTTPClient([shelf]).relative(to: "http://books.test")
        let shown = try await preview.load(Endpoint<[Book]>("GET", "books"))
        #expect(shown.map(\.title) == ["Moby-Dick"])
        let lines = Recording<String>()
        var http = HTTPClient([shelf]).relative(to: "http://books.test")
        http.defaults.logLevel = .minimal
        http.defaults.log = { message, metadata, _ in lines.add("\(message) \(metadata["url"] ?? "")") }
        _ = try await http.load(Endpoint<[Book]>("GET", "books"))
        #expect(lines.all == ["load ended http://books.test/books"])
    }

    @Test func `an observer of all loads of a client`() async throws {
        let shelf = MemoryExecutor { _, _ in HTTPStreamedResponse(HTTPResponse(status: 204)) }
        /// A meter of the statuses of attempts.
        struct Meter {
            let statuses = Recording<Int?>()
            func count(_ status: Int?) { statuses.add(status) }
        }
        let meter = Meter()
        var http = HTTPClient([shelf]).relative(to: "http://books.test")
        http.defaults.observers.append { event in
            if case .attempted(let attempt) = event { meter.count(attempt.status) }
        }
        _ = try await http.load(Endpoint<Nothing>("GET", "books"))
        #expect(meter.statuses.all == [204])
    }

    @Test func `pages`() async throws {
        let server = try TestServer { request, connection in
            let link = request.target.hasSuffix("2") ? [] : [("Link", "</pharmacies?page=2>; rel=\"next\"")]
            connection.answer("200 OK", link, body: Array(#"[{"name":"\#(request.target.suffix(1))"}]"#.utf8))
        }
        let http = HTTPClient([AsyncHTTPClientExecutor()]).relative(to: server.url()), call = Call()
        let search = Endpoint<[Pharmacy]>("GET", "pharmacies", query: ["zip": "1011"])
        var pharmacies: [Pharmacy] = []
        for try await page in http.pages(search, call) {
            pharmacies += page
        }
        #expect(pharmacies.map(\.name) == ["1", "2"])
    }

    @Test func `events`() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        let server = try TestServer { request, connection in
            guard request["Last-Event-ID"] == "6" else { return connection.answer("204 No Content") }
            connection.send(head + "retry: 1\nid: 7\ndata: whale\n\n")
            connection.close()
        }
        /// A sender of a stream.
        struct Changes {
            let sent = Recording<String>()
            func send(_ text: String) async throws { sent.add(text) }
        }
        let http = HTTPClient([AsyncHTTPClientExecutor()]).relative(to: server.url()), call = Call(), cursor = "6"
        let changes = Changes()
        for try await event in http.events(Endpoint<ServerEvent>("GET", "changes"), call, after: cursor) {
            try await changes.send(event.data)
        }
        #expect(changes.sent.all == ["whale"])
    }

    /// A bar and a view, for the steps of a load.
    struct Screen: Sendable {
        let steps: Recording<String>
        func show(_ text: String) { steps.add(text) }
        func show(_ count: Int64, of whole: Int64?) { steps.add("\(count) of \(whole ?? 0)") }
    }

    @Test func `an image with progress`() async throws {
        // Not before the functions are added: progress is told before the end only.
        let areAdded = Latch()
        let server = try TestServer { _, connection in
            areAdded.pass()
            connection.answer("200 OK", body: Array("PNG".utf8))
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path + "/whale.png", bar = Screen(steps: Recording()), view = Screen(steps: Recording())
        let http = HTTPClient([AsyncHTTPClientExecutor()]).relative(to: server.url()), call = Call()
        let cover = Endpoint<DownloadedFile>("GET", "covers/whale.png", to: path)
        let load = cover.load(on: http, call)
            .onProgress { progress in bar.show(progress.received, of: progress.toReceive) }
            .onSuccess(on: .main) { file in view.show(file.path) }
            .onFailure(on: .main) { error in view.show(error.message) }
        areAdded.open()
        #expect(try await load.value.size == 3)
        #expect(try await view.steps.first(1) == [path])
        #expect(bar.steps.all.last == "3 of 3")
    }

    @Test func `a report that is loaded until it is complete, with a token`() async throws {
        let count = Recording<String>()
        let server = try TestServer { request, connection in
            count.add(request["Authorization"] ?? "")
            connection.answer(
                "200 OK", [("X-Left", "3")], body: Array(#"{"isComplete":\#(count.all.count == 2)}"#.utf8))
        }
        @Sendable func token() async throws -> String { "whale" }
        var http = HTTPClient([AsyncHTTPClientExecutor()]).relative(to: server.url())
        http.defaults.retry = RetryPolicy(attempts: 4)
        http.defaults.interceptors = [
            HTTPInterceptor { request, next in
                var signed = request
                signed.headers["Authorization"] = "Bearer \(try await token())"
                return try await next(signed)
            }
        ]
        var ready = Endpoint<Report>("GET", "reports/7")
        ready.retry = RetryPolicy(attempts: 5)
        ready.verdict = { report, _ in report.isComplete ? .accept : .retry("the report is not complete yet") }
        #expect(try await http.load(ready).isComplete)
        #expect(count.all == ["Bearer whale", "Bearer whale"])
        #expect(try await http.load(Endpoint<Quota>("GET", "quota")).left == 3)
    }

    @Test func `a refusal that a server explains`() async throws {
        let server = try TestServer { _, connection in
            connection.answer("409 Conflict", body: Array(#"{"code":"loan.taken","message":"it is lent out"}"#.utf8))
        }
        var http = HTTPClient([AsyncHTTPClientExecutor()]).relative(to: server.url())
        struct Refusal: ComponentError, Decodable {
            var code, message: String
        }
        http.defaults.failure = .decoded(Refusal.self)
        let client = http
        let error = await #expect(throws: BackplaneError.self) {
            let nothing = try await client.load(Endpoint<Nothing>("POST", "loans"))
            return nothing
        }
        #expect(error?.code == .networkStatus && error?.failure?.code == "loan.taken")
    }

    @Test func `a clock that a test controls`() async throws {
        let clock = TestClock(), executor = MemoryExecutor { _, _ in HTTPStreamedResponse(HTTPResponse(status: 503)) }
        let network = HTTPPipeline([executor], retries: Retries(clock: clock, date: { clock.date }, random: { 1 }))
        var http = HTTPClient(network).relative(to: "http://books.test")
        http.defaults.retry = RetryPolicy(attempts: 2)
        let load = Endpoint<Nothing>("GET", "").load(on: http)
        try await clock.sleepers(1)
        clock.advance(by: .milliseconds(200))
        guard case .failure(let error) = await load.result else { return #expect(Bool(false), "it has a value") }
        #expect(error.httpStatus == 503)
    }
}

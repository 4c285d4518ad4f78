import Backplane
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneExchange

/// Mocks: files that answer in place of servers, through the whole pipeline.
@Suite(.timeLimit(.minutes(5)))
struct MockTests {
    private let folder: TestFolder
    private let books = "http://books.test/books"

    init() throws { folder = try TestFolder() }

    @discardableResult
    private func write(_ text: String, as name: String) throws -> String {
        let path = folder.path + "/" + name
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    private var mocks: Mocks { Mocks(folders: [folder.path]) }

    /// An executor that answers everything with the text `sent`.
    private let real = MemoryExecutor { _, _ in
        HTTPStreamedResponse(HTTPResponse(status: 200, body: Array("sent".utf8)))
    }

    private func network(_ mocks: Mocks, clock: TestClock = TestClock()) -> HTTPPipeline {
        HTTPPipeline([real], retries: Retries(clock: clock, random: { 0 }), mocks: mocks)
    }

    private func failure(_ network: HTTPPipeline, _ request: HTTPRequest) async -> BackplaneError? {
        await #expect(throws: BackplaneError.self) { try await network.send(request) }
    }

    @Test func `a mock of JSON is the body of a response with the status 200`() async throws {
        try write("[1, 2]\n", as: "GET books.mock")
        let response = try await network(mocks).send(HTTPRequest("GET", books))
        #expect(response.status == 200 && response.body == Array("[1, 2]\n".utf8) && response.source == .mock)
        #expect(response.headers == ["Content-Type": "application/json", "Content-Length": "7"])
        let http = HTTPClient(network(mocks)).relative(to: "http://books.test")
        #expect(try await http.load(Endpoint<[Int]>("GET", "books")) == [1, 2])
    }

    @Test func `a mock with a head has a status, fields, and a delay by the pipeline's clock`() async throws {
        try write("HTTP 404\r\nDelay: 0.5\r\nContent-Type: text/plain\r\nX-A: 1\r\n\r\nno book", as: "GET books.mock")
        let clock = TestClock(), network = network(mocks, clock: clock), request = HTTPRequest("GET", books)
        let exchange = Task { try await network.send(request) }
        try await clock.expire(.milliseconds(500))
        let response = try await exchange.value
        #expect(response.status == 404 && response.body == Array("no book".utf8))
        #expect(
            response.headers.fields.map { "\($0.name): \($0.value)" }
                == ["Content-Type: text/plain", "X-A: 1", "Content-Length: 7"])
    }

    @Test func `what curl prints is a mock, and a mock may have no body`() async throws {
        try write("HTTP/2 201 Created\ncontent-length: 99\ntransfer-encoding: chunked\n\n{}", as: "POST books.mock")
        try write("HTTP 204", as: "DELETE books.mock")
        let created = try await network(mocks).send(HTTPRequest("POST", books, body: [1]))
        #expect(created.status == 201 && created.headers["Content-Length"] == "2")
        let deleted = try await network(mocks).send(HTTPRequest("DELETE", books))
        #expect(deleted.status == 204 && deleted.headers == [:] && deleted.body.isEmpty)
    }

    @Test(arguments: [
        ("", ":1:1"), (#"{"a": }"#, ":1:7"), ("not JSON", ":1:1"), ("HTTP 99", ":1"), ("HTTP", ":1:1"),
        ("HTTP 200\nno field\n\n{}", ":2"), ("HTTP 200\nX-A: 1\nDelay: soon\n", ":3"), ("HTTP 200\nDelay: -1\n", ":2"),
        ("HTTP 200\n\n{\n  oops\n}", ":4:3"), ("HTTP 200\nX A: 1\n\n", ":2"), ("HTTP 200\n\n[1] 2", ":3:5"),
    ])
    func `a malformed mock is an error with the line`(text: String, place: String) async throws {
        let path = try write(text, as: "GET books.mock")
        let error = await failure(network(mocks), HTTPRequest("GET", books))
        #expect(error?.code == .networkMock && error?.networkNumber == 26)
        #expect(error?.location == path + place, "\(String(describing: error))")
    }

    @Test func `a mock that is too large, or not a file, is an error`() async throws {
        let path = try write("", as: "GET books.mock")
        try #require(truncate(path, 65 << 20) == 0)
        #expect(await failure(network(mocks), HTTPRequest("GET", books))?.location == path)
        try FileManager.default.removeItem(atPath: path)
        try #require(mkfifo(path, 0o600) == 0)
        #expect(await failure(network(mocks), HTTPRequest("GET", books))?.code == .networkMock)
    }

    @Test(
        arguments: [
            ("GET", "http://books.test/books/1", nil, ["GET books-1", "GET books-_", "GET _-1", "GET _-_"]),
            (
                "GET", "http://books.test/search?q=white%20whale", nil,
                ["GET search-q-white-20whale", "GET search", "GET _"]
            ),
            ("PUT", "http://books.test/", nil, ["PUT"]),
            ("GET", "http://books.test/a", "Books of Ann", ["Books of Ann"]),
            ("GET", "http://books.test/a", "../../etc/passwd", ["..-..-etc-passwd"]),
            ("GET", "http://books.test/v2/a", "GET a", ["GET a", "GET _"]),
        ] as [(String, String, String?, [String])])
    func `a request is looked for by names that say less and less`(
        method: String, url: String, endpoint: String?, names: [String]
    ) {
        var options = HTTPOptions()
        options.endpoint = endpoint
        #expect(MockName.files(of: HTTPRequest(method, url), options) == names.map { "\($0).mock" })
    }

    @Test func `the file that says most answers`() async throws {
        try write("1", as: "GET books-_.mock")
        try write("2", as: "GET books-2.mock")
        let network = network(mocks)
        for (id, text) in [("1", "1"), ("2", "2"), ("moby-dick", "1")] {
            #expect(try await network.send(HTTPRequest("GET", "\(books)/\(id)")).body == Array(text.utf8))
        }
    }

    @Test func `a missing mock is an error that names the file, or is sent`() async throws {
        try write("1", as: "GET boks.mock")
        let error = await failure(network(mocks), HTTPRequest("GET", books + "?key=secret"))
        #expect(error?.code == .networkMock && error?.location == books)
        #expect(
            error?.message
                == "there is no mock of `GET /books`; expected the file `GET books.mock` in `\(folder.path)`; did you mean `GET boks.mock`?"
        )
        var falling = mocks
        falling.fallsThrough = true
        let response = try await network(falling).send(HTTPRequest("GET", books))
        #expect(response.body == Array("sent".utf8) && response.source == .network)
    }

    @Test func `a request without a mock that is sent may be cached, and one with a mock is not`() async throws {
        try write(#""mock""#, as: "GET shelves.mock")
        var mocks = mocks, options = HTTPOptions()
        mocks.fallsThrough = true
        options.cache = .memory(for: .seconds(60))
        let network = network(mocks)
        for (name, source) in [("books", ResponseSource.memory), ("shelves", .mock)] {
            let request = HTTPRequest("GET", "http://books.test/\(name)")
            _ = try await network.send(request, options)
            #expect(try await network.send(request, options).source == source)
        }
    }

    @Test func `mocks are enabled for all, for a client, or for an endpoint`() async throws {
        try write(#""mock""#, as: "GET books.mock")
        var some = mocks
        some.isForAll = false
        var real = Endpoint<String>("GET", "books"), mocked = real
        (real.options.usesMock, mocked.options.usesMock) = (false, true)
        for (mocks, client, endpoint, isMocked) in [
            (mocks, nil, Endpoint<String>("GET", "books"), true), (some, nil, Endpoint<String>("GET", "books"), false),
            (some, true, Endpoint<String>("GET", "books"), true), (some, nil, mocked, true), (mocks, true, real, false),
            (some, false, mocked, true),
        ] {
            var http = HTTPClient(network(mocks)).relative(to: "http://books.test")
            http.defaults.usesMock = client
            #expect(try await http.load(endpoint) == (isMocked ? #""mock""# : "sent"))
        }
    }

    @Test func `an endpoint has a mock in code, which its client's interceptors see`() async throws {
        var http = HTTPClient([]).relative(to: "http://books.test"), endpoint = Endpoint<HTTPResponse>("GET", "books")
        http.defaults.interceptors = [
            HTTPInterceptor { request, next in
                var response = try await next(request)
                response.headers.add("X-Seen", "1")
                return response
            }
        ]
        endpoint.mock(HTTPResponse(status: 201, body: Array("mock".utf8)))
        let response = try await http.load(endpoint)
        #expect(response.status == 201 && response.body == Array("mock".utf8) && response.headers["X-Seen"] == "1")
        #expect(response.source == .mock)
    }

    @Test func `mocks pass interceptors, retries and events, and are read each time`() async throws {
        let path = try write("HTTP 503", as: "GET books.mock"), attempts = Recording<Int>()
        var options = HTTPOptions()
        options.retry = RetryPolicy(attempts: 3)
        options.attempted = { attempt in
            attempts.add(attempt.status ?? 0)
            if attempt.number == 2 { try? Data("[]".utf8).write(to: URL(filePath: path)) }
        }
        let interceptor = HTTPInterceptor { request, next in
            var changed = request
            changed.url += "s"
            return try await next(changed)
        }
        let network = HTTPPipeline(
            [], retries: Retries(clock: TestClock(), random: { 0 }), interceptors: [interceptor], mocks: mocks)
        let response = try await network.send(HTTPRequest("GET", "http://books.test/book"), options)
        #expect(response.status == 200 && attempts.all == [503, 503, 200])
    }

    @Test func `the target of a redirect has a mock of its own`() async throws {
        try write("HTTP 302\nLocation: /library", as: "GET books.mock")
        try write(#""moved""#, as: "GET library.mock")
        let http = HTTPClient(network(mocks)).relative(to: "http://books.test")
        #expect(try await http.load(Endpoint<String>("GET", "books")) == #""moved""#)
    }

    @Test func `a plugin's exchanges are answered by its host's mocks, unless it wants to send them`() async throws {
        try write(#"["mock"]"#, as: "GET books.mock")
        let server = try TestServer { $1.answer("200 OK", body: Array(#"["sent"]"#.utf8)) }
        try await LendingPlugin.lent(.urlSession, { $0.mocks = mocks }) { _, context in
            let http = context.http.relative(to: server.url("/v2"))
            var endpoint = Endpoint<[String]>("GET", "books")
            #expect(try await http.load(endpoint, context.begin()) == ["mock"])
            endpoint.options.usesMock = false
            #expect(try await http.load(endpoint, context.begin()) == ["sent"])
            let response = try await http.open(HTTPRequest("GET", "http://a.test/books"), context.begin())
            #expect(response.source == .mock)
            let file = try await http.download(HTTPRequest("GET", "http://a.test/books"), to: "a", context.begin())
            #expect(file.status == 200)
            #expect(try String(contentsOfFile: context.folder + "/a", encoding: .utf8) == #"["mock"]"#)
            let error = await error { try await http.load(Endpoint<Nothing>("GET", "loans"), context.begin()) }
            #expect(error?.code == .networkMock)
        }
    }

    @Test func `a mock in a plugin's resources answers what the plugin sends, unless the host has one`() async throws {
        let library = folder.path + "/libAlmanac.so", own = folder.path + "/own"
        try FileManager.default.copyItem(atPath: BuiltProducts.folder + "/libAlmanac.so", toPath: library)
        for (place, text) in [("app_Almanac.resources/mocks", "of the plugin"), ("own", "of the host")] {
            try FileManager.default.createDirectory(
                atPath: "\(folder.path)/\(place)", withIntermediateDirectories: true)
            try write(#"[{"day": "07-20", "year": 1969, "text": "\#(text)"}]"#, as: "\(place)/GET events.mock")
        }
        let feed = ComponentDefinition(
            className: "EventFeedService", propertyName: "feed",
            configuration: ["url": .string("http://almanac.test/events")])
        let almanac = ManagerDefinition(
            dataAccessController: ComponentDefinition(className: "AlmanacStore"),
            communicationController: ComponentDefinition(className: "AlmanacCommunication", services: [feed]))
        let manifest = Manifest(plugins: [PluginReference(library: library)], managers: ["AlmanacManager": almanac])
        for (folders, text) in [([], "of the plugin"), ([own], "of the host")] as [([String], String)] {
            try await PluginHost.running(manifest, executors: [real]) {
                $0.mocks = Mocks(folders: folders)
            } _: { host in
                let events = try await host.call("AlmanacManager", "on", Array(#""07-20""#.utf8), host.begin())
                #expect(String(decoding: events, as: UTF8.self).contains(text))
            }
        }
    }

    @Test func `the folder beside the manifest has mocks of endpoints that want them`() async throws {
        try FileManager.default.createDirectory(atPath: folder.path + "/mocks", withIntermediateDirectories: false)
        try write("[3]", as: "mocks/GET books.mock")
        let path = try write(#"{"manifestVersion": 1, "plugins": [], "managers": {}}"#, as: "app.json")
        let options = HostOptions(
            loadFolder: folder.path + "/loads", dataFolder: folder.path + "/data", executors: [real],
            occupationLimit: nil)
        let host = PluginHost(manifest: ManifestDocument(contentsOf: path), options: options)
        var wanting = HTTPOptions()
        wanting.usesMock = true
        #expect(try await host.network.send(HTTPRequest("GET", books), wanting).body == Array("[3]".utf8))
        #expect(try await host.network.send(HTTPRequest("GET", books)).body == Array("sent".utf8))
        await host.stop()
    }
}

import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Testing

@Suite(.timeLimit(.minutes(2)))
struct TestHTTPTests {
    private let http = TestHTTP()
    private let url = "http://books.test/search?q=whale"

    private func get(_ url: String) async throws -> HTTPResponse { try await http.execute(HTTPRequest("GET", url)) }

    @Test func `a request is answered by its method and its URL, query and all`() async throws {
        http.on("GET", url, .json(text: "[]"))
        http.on("POST", url, .status(201, headers: ["Location": "/1"]))
        #expect(
            try await get(url)
                == HTTPResponse(status: 200, headers: ["Content-Type": "application/json"], body: Array("[]".utf8)))
        #expect(try await http.execute(HTTPRequest("POST", url)).headers["Location"] == "/1")
        await #expect(throws: BackplaneError.self) { try await get("http://books.test/search") }
    }

    @Test func `answers of JSON have fields, such as a link to the next page`() async throws {
        http.on("GET", url, .json([1], headers: .link(next: "?page=2")), .json(text: "[2]", headers: ["ETag": "a"]))
        let first = try await get(url), second = try await get(url)
        #expect(first.headers == ["Link": "<?page=2>; rel=\"next\"", "Content-Type": "application/json"])
        #expect(second.headers["ETag"] == "a" && second.headers["Content-Type"] == "application/json")
    }

    @Test func `several answers are given in turn, and the last stays`() async throws {
        http.on("GET", url, .status(503), .status(500), .json([1, 2]))
        var statuses: [Int] = []
        for _ in 0..<4 { statuses.append(try await get(url).status) }
        #expect(statuses == [503, 500, 200, 200])
        #expect(try await get(url).body == Array("[1,2]".utf8))
    }

    @Test func `an answer may depend on its request, and may read the log of requests`() async throws {
        http.on(
            "the second request", where: { [http] _ in http.requests.count == 2 },
            TestHTTP.Answer { HTTPResponse(status: 200, body: $0.body.bytes ?? []) })
        http.on("GET", url, .status(202))
        #expect(try await get(url).status == 202)
        #expect(try await http.execute(HTTPRequest("PUT", url, body: [1, 2, 3])).body == [1, 2, 3])
        #expect(http.requests.map(\.method) == ["GET", "PUT"])
    }

    @Test func `no connection and other failures are thrown`() async throws {
        struct Cut: Error {}
        http.on("GET", url, .noConnection, .failure(Cut()))
        let error = await #expect(throws: BackplaneError.self) { try await get(url) }
        #expect(error?.code == .networkFailed && error?.location == "http://books.test/search")
        await #expect(throws: Cut.self) { try await get(url) }
    }

    @Test func `a request is held at a gate as long as the test wants`() async throws {
        let gate = TestGate()
        http.on("GET", url, .status(200).held(at: gate))
        async let response = get(url)
        try await gate.arrivals()
        #expect(try await http.requests(1).map(\.url) == [url])
        gate.open()
        #expect(try await response.status == 200)
    }

    @Test func `an unexpected request is an error that lists the expected ones, and is recorded`() async throws {
        let first = await #expect(throws: BackplaneError.self) { try await get(url) }
        #expect(
            first?.message == """
                the test defines no answer to `GET \(url)`; no answers are defined yet; define the answer with `http.on("GET", "\(url)", …)`
                """)
        http.on("GET", "http://books.test/books", .status(200))
        let second = await #expect(throws: BackplaneError.self) { try await get(url) }
        #expect(second?.code == .networkUnexpected)
        #expect(second?.message.contains("; it answers `GET http://books.test/books`; ") == true)
        #expect(http.takeUnexpected().map(\.url) == [url, url])
        #expect(http.takeUnexpected().isEmpty)
    }

    @Test func `mocks and a cassette answer what has no answer, and what they lack is unexpected`() async throws {
        let files = try TestFolder(), folder = files.path
        defer { withExtendedLifetime(files) {} }
        try Data("[1]".utf8).write(to: URL(filePath: folder + "/GET books.mock"))
        http.on("GET", url, .json(text: "[]"))
        http.answer(from: Mocks(folders: [folder]))
        #expect(try await get(url).body == Array("[]".utf8))
        let mocked = try await get("http://books.test/books")
        #expect(mocked.body == Array("[1]".utf8) && mocked.source == .mock)
        let cassette = folder + "/cassette.json"
        _ = try await HTTPPipeline([http], cassette: .recording(to: cassette)).send(HTTPRequest("GET", url))
        let replaying = TestHTTP()
        replaying.answer(from: try Cassette.replaying(cassette))
        #expect(try await replaying.execute(HTTPRequest("GET", url)).body == Array("[]".utf8))
        for http in [http, replaying] {
            let error = await #expect(throws: BackplaneError.self) {
                try await http.execute(HTTPRequest("GET", "http://books.test/loans"))
            }
            #expect(error?.code == .networkMock && http.takeUnexpected().count == 1)
        }
    }

    @Test func `a run with an unexpected request fails, though the component got over it`() async throws {
        let run: @Sendable (_ takes: Bool) async throws -> Void = { takes in
            try await TestHost.run(.lending, plugins: [LendingPlugin.self]) { host in
                let librarian = try await host.manager(.librarian)
                _ = try? await librarian.lend("whale")
                if takes { #expect(host.http.takeUnexpected().count == 1) }
            }
        }
        let error = await #expect(throws: BackplaneError.self) { try await run(false) }
        #expect(error?.code == .networkUnexpected)
        #expect(error?.message.contains("`GET http://lending.test/whale`") == true)
        try await run(true)
    }
}

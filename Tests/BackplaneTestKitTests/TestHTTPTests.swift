import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneStorage
import Foundation
import TestFixtures
import Testing

@testable import BackplaneTestKit

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
            let error = await error { try await http.execute(HTTPRequest("GET", "http://books.test/loans")) }
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

/// The server of the kit as HTTP says, driven byte by byte.
@Suite(.timeLimit(.minutes(5)))
struct TestServerTests {
    private static let alphabet = "abcdefghijklmnopqrstuvwxyz"

    @Test func `a connection serves requests until one asks for its end`() throws {
        let server = try TestServer { request, connection in
            connection.answer("200 OK", body: Array("\(connection.number) \(request.target);".utf8))
        }
        let client = try RawClient(port: server.port)
        client.send("GET /a HTTP/1.1", "", "GET /b HTTP/1.1", "", "")
        #expect(client.receive(to: ";").hasSuffix("\r\n\r\n0 /a;"))
        #expect(client.receive(to: ";").hasSuffix("\r\n\r\n0 /b;"))
        client.send("HEAD /c HTTP/1.1", "", "GET /d HTTP/1.1", "Connection: close", "", "GET /e HTTP/1.1", "", "")
        let rest = client.receive()
        #expect(rest.hasPrefix("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHTTP/1.1 ") && rest.hasSuffix("0 /d;"))
    }

    @Test func `paths and queries are decoded`() {
        let request = ReceivedRequest(method: "GET", target: "/a%20b/c%2Fd?q=%C3%A9&n=1&n=2&e", fields: [])
        #expect(request.path == ["a b", "c/d"])
        #expect(request.query == ["q": "é", "n": "1", "e": ""])
    }

    @Test(arguments: [
        ("bytes=0-4", 0..<5), ("bytes=20-", 20..<26), ("bytes=-3", 23..<26), ("bytes=25-99", 25..<26),
        ("bytes=-99", 0..<26), ("bytes=26-", 26..<26), ("bytes=-0", 26..<26),
        ("bytes=99999999999999999999-", 26..<26), ("bytes=0-99999999999999999999", 0..<26),
        ("bytes=5-2", nil), ("bytes=0-1,4-5", nil), ("lines=1-2", nil), ("bytes=-", nil), ("bytes=+1-2", nil),
    ])
    func `a range is a part of the content`(field: String, expected: Range<Int>?) {
        #expect(ReceivedRequest(method: "GET", target: "/", fields: [("range", field)]).range(in: 26) == expected)
    }

    @Test(arguments: [
        ("GET", "X: 1", "200 OK", 26), ("GET", "Range: bytes=1-2", "206 Partial Content", 2),
        ("GET", "Range: bytes=26-", "416 Range Not Satisfiable", 0), ("HEAD", "Range: bytes=1-2", "200 OK", 26),
        ("GET", "Range: bytes=1-2\r\nIf-Range: \"1\"", "206 Partial Content", 2),
        ("GET", "Range: bytes=1-2\r\nIf-Range: \"2\"", "200 OK", 26),
        ("GET", "If-None-Match: \"0\", W/\"1\"", "304 Not Modified", nil),
        ("GET", "If-None-Match: *", "304 Not Modified", nil),
        ("GET", "If-None-Match: \"2\"", "200 OK", 26),
    ])
    func `content is sent whole, in part or not at all`(method: String, field: String, status: String, length: Int?)
        throws
    {
        let server = try TestServer { $1.answer($0, content: Array(Self.alphabet.utf8), tag: "\"1\"") }
        let client = try RawClient(port: server.port)
        client.send("\(method) / HTTP/1.1", field, "Connection: close", "", "")
        let answer = client.receive()
        #expect(answer.hasPrefix("HTTP/1.1 \(status)\r\nETag: \"1\"\r\nAccept-Ranges: bytes\r\n"))
        #expect(answer.contains("Content-Length: \(length ?? -1)\r\n") == (length != nil))
        let body = length == 2 ? "bc" : length == 26 && method == "GET" ? Self.alphabet : ""
        #expect(answer.hasSuffix("\r\n\r\n" + body))
    }

    @Test func `a script reads a body in pieces, once the client may send it`() throws {
        let server = try TestServer(readsBodies: false) { _, connection in
            var body: [UInt8] = []
            while let piece = connection.nextPiece() { body += piece }
            connection.answer("200 OK", body: body)
        }
        let client = try RawClient(port: server.port)
        client.send("PUT / HTTP/1.1", "Expect: 100-continue", "Transfer-Encoding: chunked", "", "")
        #expect(client.receive(to: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        client.send("3", "one", "3;x=y", "two", "0", "X-Sum: 6", "", "")
        #expect(client.receive(to: "onetwo").hasPrefix("HTTP/1.1 200 OK\r\n"))
        client.send("PUT / HTTP/1.1", "Content-Length: 5", "Connection: close", "", "three")
        #expect(client.receive().hasSuffix("\r\n\r\nthree"))
    }

    @Test(arguments: ["-3\r\nabc", "x\r\n", "3\r\nabcd\r\n"])
    func `a body that is none ends the connection`(body: String) throws {
        let server = try TestServer { $1.answer("200 OK") }
        let client = try RawClient(port: server.port)
        client.send("PUT / HTTP/1.1", "Transfer-Encoding: chunked", "", body)
        #expect(client.receive() == "")
    }

    @Test func `a client that is still sending receives the answer`() throws {
        let server = try TestServer(readsBodies: false) { request, connection in
            if connection.readBody(of: request, upTo: 1_000) == nil { connection.answer("413 Content Too Large") }
        }
        let client = try RawClient(port: server.port), size = 8 << 20
        client.send("PUT / HTTP/1.1", "Content-Length: \(size)", "", String(repeating: "x", count: size))
        #expect(client.receive() == "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    }

    @Test(arguments: [
        ("NONSENSE\r\n\r\n", "", 0, "400 Bad Request"),
        ("GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "", 0, "400 Bad Request"),
        ("GET / HTTP/1.1\r\nX: ", "x", 100_000, "431 Request Header Fields Too Large"),
        ("GET / HTTP/1.1\r\n", "X: xxxxxxxx\r\n", 9_000, "431 Request Header Fields Too Large"),
    ])
    func `what is no request is refused`(start: String, filler: String, count: Int, status: String) throws {
        let server = try TestServer { $1.answer("200 OK") }
        let client = try RawClient(port: server.port)
        client.send(start + String(repeating: filler, count: count))
        #expect(client.receive().hasPrefix("HTTP/1.1 \(status)\r\n"))
    }

    @Test func `events are sent to all, and again to clients that come back`() throws {
        let feed = TestEventFeed()
        let server = try TestServer { feed.serve($0, $1) }
        func listen(_ last: String? = nil) throws -> RawClient {
            let client = try RawClient(port: server.port)
            client.send("GET / HTTP/1.1", last.map { "Last-Event-ID: \($0)" } ?? "X: 1", "", "")
            _ = client.receive(to: "\r\n\r\n")
            return client
        }
        let first = try listen(), second = try listen("x")
        #expect(second.receive(to: "\n\n") == "event: missed\ndata: {}\n\n")
        feed.publish("line", "a\nb")
        feed.publish("book", json: ["id": "walden"])
        let event = first.receive(to: "\n\n")
        let id = try #require(event.wholeMatch(of: /id: (.+-1)\nevent: line\ndata: a\ndata: b\n\n/)).1
        #expect(second.receive(to: "\n\n") == event)
        let next = "id: \(id.dropLast())2\nevent: book\ndata: {\"id\":\"walden\"}\n\n"
        #expect(first.receive(to: "\n\n") == next)
        #expect(try listen(String(id)).receive(to: "\n\n") == next)
        for _ in 1...1_000 { feed.publish("more", "") }
        #expect(try listen(String(id)).receive(to: "\n\n") == "event: missed\ndata: {}\n\n")
        server.stop()
        #expect(second.receive().hasPrefix(next))
    }

    @Test func `a stop lets answers in progress end, but not longer than it may take`() async throws {
        let held = DispatchSemaphore(value: 0)
        for isHeld in [false, true] {
            let server = try TestServer { _, connection in
                // Nothing more is received from the beginning of the stop on.
                while !connection.hasEnded(within: .seconds(60)) {}
                if isHeld { held.wait() }
                connection.answer("200 OK", body: Array("done".utf8))
            }
            let client = try RawClient(port: server.port)
            client.send("GET / HTTP/1.1", "", "")
            _ = await server.requests.first { _ in true }
            server.stop(within: isHeld ? .milliseconds(1) : .seconds(60))
            #expect(client.receive().hasSuffix("done") == !isHeld)
            #expect(throws: POSIXError.self) { try RawClient(port: server.port) }
        }
        held.signal()
    }

    @Test func `a port can be chosen, and is an error if it is taken`() throws {
        let server = try TestServer { $1.answer("200 OK") }
        let error = #expect(throws: POSIXError.self) { try TestServer(port: server.port) { $1.answer("200 OK") } }
        #expect(error?.code == .EADDRINUSE)
    }
}

@Suite(.timeLimit(.minutes(2)))
struct TestStoreTests {
    private struct Entry: Record, Hashable {
        static let collection = "entries"
        var id: String
    }

    private func withLibrarian(_ test: (TestHost, Remote<Lending>) async throws -> Void) async throws {
        let network = Fake(LendingNetwork.self) { $0.async(\.run) { text, _ in text } }
        try await TestHost.run(
            .lending, plugins: [LendingPlugin.self], fakes: [.communicationController(of: "Librarian"): network]
        ) { host in
            try await test(host, try await host.manager(.librarian))
        }
    }

    @Test func `a test fills the store and sees what a component keeps there`() async throws {
        try await withLibrarian { host, librarian in
            try await host.store.save(Entry(id: "dawn"), Entry(id: "dusk"), in: "LoanStore")
            try await host.store.save(json: #"{"id":"night"}"#, as: "night", of: "entries", in: "LoanStore")
            let answer = try await librarian.lend("whale")
            #expect(answer == "whale 4 at 12")
            #expect(
                try await host.store.all(Entry.self, in: "LoanStore").map(\.id) == ["dawn", "dusk", "night", "whale"])
            #expect(await host.store.ids(of: "entries", in: "LoanStore") == ["dawn", "dusk", "night", "whale"])
            #expect(await host.store.json("whale", of: "entries", in: "LoanStore") == #"{"id":"whale"}"#)
            #expect(await host.store.json("whale", of: "entries", in: "Nowhere") == nil)
        }
    }

    @Test func `another store takes the place of the one in memory, in the folder of the test`() async throws {
        let other = TestStore(), folder = Recording<String>()
        let network = Fake(LendingNetwork.self) { $0.async(\.run) { text, _ in text } }
        try await TestHost.run(
            .lending, plugins: [LendingPlugin.self], fakes: [.communicationController(of: "Librarian"): network],
            openStore: { path, _, _ in
                folder.add(path)
                return other
            }
        ) { host in
            _ = try await host.manager(.librarian).lend("whale")
            #expect(folder.all.map { $0.hasPrefix(host.folder + "/") } == [true])
            #expect(await other.ids(of: "entries", in: "LoanStore") == ["whale"])
        }
    }

    @Test func `a store that fails does so for components, and for as long as the test wants`() async throws {
        try await withLibrarian { host, librarian in
            host.store.failure = BackplaneError(.storeUnusable, "the disk is full")
            let error = await #expect(throws: BackplaneError.self) { try await librarian.lend("whale") }
            #expect(error?.code == .storeUnusable && error?.message == "the disk is full")
            try await host.store.save(Entry(id: "dawn"), in: "LoanStore")
            host.store.failure = nil
            #expect(try await librarian.lend("whale") == "whale 2 at 12")
        }
    }

    @Test func `a record of another shape than asked for is an error`() async throws {
        let store = TestStore()
        try await store.save(json: "{}", as: "x", of: "entries", in: "LoanStore")
        let error = await #expect(throws: BackplaneError.self) { try await store.all(Entry.self, in: "LoanStore") }
        #expect(error?.code == .storeUndecodable)
    }
}

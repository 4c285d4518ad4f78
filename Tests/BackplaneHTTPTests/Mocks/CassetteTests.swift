import Backplane
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneExchange

/// Cassettes: exchanges that are recorded to a file, edited, and replayed in place of the servers.
@Suite(.timeLimit(.minutes(5)))
struct CassetteTests {
    private let folder: TestFolder
    private var path: String { folder.path + "/books.cassette.json" }

    init() throws { folder = try TestFolder() }

    /// A server that answers with the number of the request and its body.
    private func counting() -> MemoryExecutor {
        let count = Recording<Void>()
        return MemoryExecutor { request, _ in
            count.add(())
            let body = try await request.body.collected(upTo: 1 << 20).bytes ?? []
            return HTTPStreamedResponse(
                HTTPResponse(status: 200, headers: ["X-A": "1"], body: Array("\(count.all.count) ".utf8) + body))
        }
    }

    private func recording(_ executor: any HTTPExecutor) throws -> HTTPPipeline {
        HTTPPipeline([executor], cassette: try .recording(to: path))
    }

    private func replaying() throws -> HTTPPipeline { HTTPPipeline([], cassette: try .replaying(path)) }

    private func text(_ network: HTTPPipeline, _ request: HTTPRequest) async throws -> String {
        String(decoding: try await network.send(request).body, as: UTF8.self)
    }

    private var written: String { get throws { try String(contentsOfFile: path, encoding: .utf8) } }

    private func write(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

    @Test func `what is no regular file is not replaced`() throws {
        let other = folder.path + "/other.json"
        try Data("{}".utf8).write(to: URL(filePath: other))
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: other)
        let error = #expect(throws: BackplaneError.self) { try recording(counting()) }
        #expect(error?.code == .networkMock && error?.location == path)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == other)
    }

    @Test func `what a cache has is recorded as well`() async throws {
        let live = try recording(counting()), request = HTTPRequest("GET", "http://books.test/")
        var options = HTTPOptions()
        options.cache = .memory(for: .seconds(60))
        for number in 1...2 { #expect(try await live.send(request, options).body == Array("\(number) ".utf8)) }
        let replayed = try replaying()
        for number in 1...2 { #expect(try await replayed.send(request, options).body == Array("\(number) ".utf8)) }
    }

    @Test func `equal requests are answered in order, and the last answer stays`() async throws {
        let get = HTTPRequest("GET", "http://books.test/a?b=1"),
            post = HTTPRequest("POST", "http://books.test/a", body: [97])
        let live = try recording(counting())
        let recorded = [try await text(live, get), try await text(live, post), try await text(live, get)]
        #expect(recorded == ["1 ", "2 a", "3 "])
        let network = try replaying()
        let response = try await network.send(get)
        #expect(response.source == .cassette && response.body == Array("1 ".utf8) && response.headers["X-A"] == "1")
        #expect([try await text(network, get), try await text(network, get)] == ["3 ", "3 "])
        #expect(try await text(network, post) == "2 a")
    }

    @Test func `the file is readable, is complete after each exchange, and is its owner's`() async throws {
        let live = try recording(counting())
        #expect(
            try written
                == "{\n  \"version\": 1,\n  \"match\": [\"method\", \"url\", \"body\"],\n  \"exchanges\": []\n}\n")
        let request = HTTPRequest("POST", "http://books.test/a?b=1", headers: ["Accept": "*/*"], body: .text("a \"b\""))
        _ = try await live.send(request)
        #expect(
            try written == """
                {
                  "version": 1,
                  "match": ["method", "url", "body"],
                  "exchanges": [
                    {
                      "request": {
                        "method": "POST",
                        "url": "http://books.test/a?b=1",
                        "headers": ["Accept: */*", "Content-Type: text/plain; charset=utf-8"],
                        "body": "a \\"b\\""
                      },
                      "response": {
                        "status": 200,
                        "headers": ["X-A: 1"],
                        "body": "1 a \\"b\\""
                      }
                    }
                  ]
                }

                """)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let first = try CassetteFile(Data(written.utf8), path)
        _ = try await live.send(request)
        let second = try CassetteFile(Data(written.utf8), path)
        #expect(first.exchanges == Array(second.exchanges.prefix(1)) && second.exchanges.count == 2)
    }

    @Test(arguments: Engine.allCases)
    func `real exchanges at once are all recorded, and bytes that are no text are, too`(engine: Engine) async throws {
        let server = try TestServer { $1.answer("200 OK", body: [0xFF, 0x00] + Array($0.target.utf8)) }
        let live = try recording(engine.executor()), url = server.url()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask { _ = try await live.send(HTTPRequest("GET", "\(url)\(number)")) }
            }
            try await group.waitForAll()
        }
        let network = try replaying()
        for number in 0..<50 {
            let response = try await network.send(HTTPRequest("GET", "\(url)\(number)"))
            #expect(response.body == [0xFF, 0x00] + Array("/\(number)".utf8))
        }
    }

    @Test func `redirects, retries and downloads are replayed as they were`() async throws {
        let numbers = Recording<String>()
        let server = try TestServer { request, connection in
            numbers.add(request.target)
            switch (request.target, numbers.all.count) {
            case ("/moved", _): connection.answer("302 Found", [("Location", "/book")])
            case (_, ...2): connection.answer("503 Service Unavailable")
            default: connection.answer("200 OK", body: [UInt8](repeating: 7, count: 300_000))
            }
        }
        var options = HTTPOptions()
        (options.redirects, options.retry) = (3, RetryPolicy(attempts: 3))
        let file = folder.path + "/file", cassette = try Cassette.recording(to: path)
        for network in [
            HTTPPipeline([Engine.asyncHTTPClient.executor()], retries: Retries(random: { 0 }), cassette: cassette), nil,
        ] {
            let network = try network ?? HTTPPipeline([], retries: Retries(random: { 0 }), cassette: .replaying(path))
            let response = try await network.download(HTTPRequest("GET", server.url("/moved")), to: file, options)
            #expect(response.status == 200 && response.timings.attempts == 2)
            #expect(try Data(contentsOf: URL(filePath: file)) == Data(repeating: 7, count: 300_000))
        }
        #expect(numbers.all.count == 4, "nothing was sent by the replay")
    }

    @Test func `an exchange that is left early is recorded only if it is a stream of events`() async throws {
        let executor = MemoryExecutor { request, _ in
            let pieces = ["data: 1\n\n", "data: 2\n\n"].map { Array($0.utf8) }
            let type = request.url.hasSuffix("events") ? "text/event-stream" : "text/plain"
            let left = Recording<Void>()
            return HTTPStreamedResponse(
                status: 200, headers: ["Content-Type": type],
                body: HTTPBodyStream {
                    left.add(())
                    return left.all.count > pieces.count ? nil : pieces[left.all.count - 1]
                })
        }
        let live = try recording(executor)
        for name in ["events", "text"] {
            let response = try await live.open(HTTPRequest("GET", "http://books.test/\(name)"))
            for try await _ in response.body { break }
            response.body.cancel()
        }
        let exchanges = try CassetteFile(Data(written.utf8), path).exchanges
        #expect(exchanges.map(\.request.url) == ["http://books.test/events"])
        #expect(exchanges.first?.body == Array("data: 1\n\n".utf8))
    }

    @Test func `an exchange that fails is not recorded, and a file that cannot be written is an error`() async throws {
        let broken = MemoryExecutor { request, _ in
            HTTPStreamedResponse(
                status: 200, body: HTTPBodyStream { throw BackplaneError(.networkFailed, "the connection was closed") })
        }
        await #expect(throws: BackplaneError.self) {
            try await recording(broken).send(HTTPRequest("GET", "http://books.test/"))
        }
        #expect(try CassetteFile(Data(written.utf8), path).exchanges == [])
        let error = #expect(throws: BackplaneError.self) {
            try Cassette.recording(to: folder.path + "/none/cassette.json")
        }
        #expect(error?.code == .networkMock && error?.location == folder.path + "/none/cassette.json")
    }

    @Test func `an exchange that makes the cassette too large fails, and the others remain`() async throws {
        let large = MemoryExecutor { request, _ in
            let count = request.url.hasSuffix("large") ? 17 << 20 : 10
            return HTTPStreamedResponse(HTTPResponse(status: 200, body: [UInt8](repeating: 97, count: count)))
        }
        let live = try recording(large)
        _ = try await live.send(HTTPRequest("GET", "http://books.test/small"))
        let error = await error { try await live.send(HTTPRequest("GET", "http://books.test/large")) }
        #expect(error?.code == .networkMock)
        #expect(try CassetteFile(Data(written.utf8), path).exchanges.count == 1)
    }

    @Test func `no secret is recorded, and what was hidden does not prevent the replay`() async throws {
        let executor = MemoryExecutor { request, _ in
            guard !request.url.contains("sessions") else {
                let token = #"{"token": "planted-token", "token_type": "Bearer", "expiresIn": 300}"#
                return HTTPStreamedResponse(HTTPResponse(status: 201, body: Array(token.utf8)))
            }
            #expect(request.headers["Authorization"] == "Bearer planted-token")
            return HTTPStreamedResponse(
                HTTPResponse(status: 200, headers: ["Set-Cookie": "id=planted", "X-Auth-Token": "planted", "X-A": "1"]))
        }
        let source = TokenSource(
            signIn: TokenRequest("http://books.test/sessions", .json(["reader": "ann", "password": "planted"])),
            token: "/token", expires: "/expiresIn")
        let credentials = ["library": Credential(hosts: ["books.test"], .bearer(source))]
        func send(_ network: HTTPPipeline) async throws -> HTTPResponse {
            var options = HTTPOptions()
            options.credential = "library"
            return try await network.send(
                HTTPRequest(
                    "GET", "http://books.test/a?q=whale&api_key=planted&page=2",
                    headers: ["Cookie": "id=planted", "X-Key": "planted", "Accept": "text/plain"]), options)
        }
        _ = try await send(
            HTTPPipeline([executor], credentials: Credentials(credentials), cassette: .recording(to: path)))
        let text = try written
        #expect(!text.contains("planted") && !text.contains("ann"), "\(text)")
        #expect(
            text.contains("http://books.test/a?q=whale&api_key=REDACTED&page=2") && text.contains("Accept: text/plain"))
        let response = try await send(
            HTTPPipeline([], credentials: Credentials(credentials), cassette: .replaying(path)))
        #expect(response.source == .cassette && response.headers["X-A"] == "1")
        #expect(response.headers["Set-Cookie"] == nil && response.headers["X-Auth-Token"] == nil)
    }

    @Test func `a user in a URL, and the secrets of a redirect's target, are not recorded`() throws {
        let asked = CassetteExchange.Request(
            HTTPRequest("GET", "http://ann:planted@books.test/a?ACCESS_token=planted#b"), HTTPOptions())
        #expect(asked.url == "http://books.test/a?ACCESS_token=REDACTED")
        let answer = HTTPResponse(status: 302, headers: ["Location": "/b?code=planted&state=1"])
        #expect(CassetteExchange(asked, answer, HTTPOptions()).headers["Location"] == "/b?code=REDACTED&state=1")
    }

    @Test func `the secrets of links to other pages are not recorded`() {
        let asked = CassetteExchange.Request(HTTPRequest("GET", "http://books.test/a"), HTTPOptions())
        let links = #"</a?page=2&access_token=planted>; rel="next", <http://books.test/a?page=9>; rel="last""#
        let recorded = CassetteExchange(
            asked, HTTPResponse(status: 200, headers: ["Link": links]), HTTPOptions())
        #expect(recorded.headers["Link"] == links.replacing("planted", with: "REDACTED"))
    }

    @Test func `a token is not recorded where its host expects it, nor in a redirect that repeats it`() async throws {
        let executor = MemoryExecutor { request, _ in
            #expect(request.url.hasSuffix("reader=planted"))
            guard request.url.hasPrefix("http://books.test/") else {
                return HTTPStreamedResponse(HTTPResponse(status: 200))
            }
            return HTTPStreamedResponse(
                HTTPResponse(status: 307, headers: ["Location": "http://other.test/b?reader=planted"]))
        }
        var source = TokenSource(secret: "planted")
        source.places = ["books.test": .query("reader")]
        let credentials = Credentials(["library": Credential(hosts: ["books.test"], .bearer(source))])
        func send(_ executors: [any HTTPExecutor], _ cassette: Cassette) async throws -> HTTPResponse {
            var options = HTTPOptions()
            (options.credential, options.redirects) = ("library", 1)
            return try await HTTPPipeline(executors, credentials: credentials, cassette: cassette)
                .send(HTTPRequest("GET", "http://books.test/a?page=2"), options)
        }
        #expect(try await send([executor], .recording(to: path)).status == 200)
        let text = try written
        #expect(!text.contains("planted"), "\(text)")
        #expect(text.contains("http://books.test/a?page=2&reader=REDACTED"), "\(text)")
        #expect(text.contains("http://other.test/b?reader=REDACTED"), "\(text)")
        #expect(try await send([], .replaying(path)).status == 200)
    }

    private static func cassette(_ exchange: String, match: String = #"["method", "path"]"#) -> String {
        "{\n\"version\": 1,\n\"match\": \(match),\n\"exchanges\": [\n\(exchange)\n]\n}"
    }

    @Test func `the rule of matching may be edited, and what is optional left out`() async throws {
        try write(
            Self.cassette(
                #"{"request": {"method": "GET", "url": "http://books.test/a"}, "response": {"status": 404}}"#))
        #expect(try await replaying().send(HTTPRequest("GET", "http://books.test/a?b=1")).status == 404)
    }

    @Test(arguments: [
        ("", ":1:1"), ("{", ":1:2"), ("[]", ":1:1"), (#"{"version": 1}"#, ":1:1: /match"),
        (#"{"version": "1"}"#, ":1:2: /version"), (#"{"vesion": 1}"#, ":1:2: /vesion"),
        (cassette("", match: "[]"), ":3:1: /match"), (cassette("", match: #"["methd"]"#), ":3:11: /match/0"),
        (cassette("7"), ":5:1: /exchanges/0"), (cassette("{}"), ":5:1: /exchanges/0/request"),
        (
            cassette(#"{"request": {"method": "GET", "url": "/"}, "response": {"status": 99}}"#),
            ":5:57: /exchanges/0/response/status"
        ),
        (
            cassette(#"{"request": {"method": "GET", "url": 7}, "response": {"status": 200}}"#),
            ":5:31: /exchanges/0/request/url"
        ),
        (
            cassette("{\n" + #""request": {"method": "GET", "url": "/", "headers": ["a"]}, "response": {}}"#),
            ":6:54: /exchanges/0/request/headers/0"
        ),
        (
            cassette(#"{"request": {"method": "GET", "url": "/"}, "response": {"status": 200, "base64": "?"}}"#),
            ":5:72: /exchanges/0/response/base64"
        ),
    ])
    func `a mistake is an error with its place`(text: String, place: String) throws {
        try write(text)
        let error = #expect(throws: BackplaneError.self) { try replaying() }
        #expect(error?.code == .networkMock)
        #expect(error?.location == path + place, "\(String(describing: error))")
    }

    @Test func `a cassette of another version is refused`() throws {
        try write(#"{"version": 2, "match": ["method"], "exchanges": []}"#)
        let error = #expect(throws: BackplaneError.self) { try replaying() }
        #expect(
            error?.message
                == "the cassette has the version 2, and this version of Backplane reads 1; record it again")
        #expect(error?.location == "\(path):1:2: /version")
    }

    @Test func `a request that is not in the cassette fails, with the nearest that is`() async throws {
        let live = try recording(counting())
        _ = try await live.send(HTTPRequest("GET", "http://books.test/shelves"))
        _ = try await live.send(HTTPRequest("POST", "http://books.test/loans?a=1", body: [97]))
        let network = try replaying()
        func message(_ request: HTTPRequest) async -> String? {
            let error = await #expect(throws: BackplaneError.self) { try await network.send(request) }
            #expect(error?.code == .networkMock && error?.location == path)
            return error?.message
        }
        #expect(
            await message(HTTPRequest("POST", "http://books.test/loans?a=2&token=planted", body: [98]))
                == "the cassette has no exchange for `POST http://books.test/loans`, matched by method, url, body; the nearest is exchange 2, `POST http://books.test/loans`, with another query and another body"
        )
        #expect(await message(HTTPRequest("GET", "http://books.test/shelf"))?.contains("exchange 1") == true)
        try write(#"{"version": 1, "match": ["method"], "exchanges": []}"#)
        let empty = await #expect(throws: BackplaneError.self) {
            try await replaying().send(HTTPRequest("GET", "http://books.test/"))
        }
        #expect(empty?.message.hasSuffix("it has no exchanges") == true)
    }
}

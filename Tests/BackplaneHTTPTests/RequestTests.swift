import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Testing

/// What reaches the server.
@Suite(.timeLimit(.minutes(5)))
struct RequestTests {
    /// Answers each request with its own method, target and body.
    static func echo(_ request: ReceivedRequest, _ connection: TestConnection) {
        connection.answer("200 OK", [("X-Method", request.method), ("X-Target", request.target)], body: request.body)
    }

    @Test(arguments: Engine.allCases, ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"])
    func `method, target and body arrive as they were given`(engine: Engine, method: String) async throws {
        let server = try TestServer(Self.echo)
        let body: [UInt8] = method == "GET" ? [] : Array("line\r\n\0\u{FF}".utf8)
        let request = HTTPRequest(method, server.url("/a%2Fb/c?q=%20&r=1#part"), body: body)
        let response = try await engine.executor().execute(request)
        #expect(response.status == 200)
        #expect(response.headers["x-method"] == method)
        #expect(response.headers["x-target"] == "/a%2Fb/c?q=%20&r=1")
        #expect(response.body == body)
    }

    @Test(arguments: Engine.allCases)
    func `header fields arrive, and their values untouched`(engine: Engine) async throws {
        let server = try TestServer { $1.answer("204 No Content") }
        let request = HTTPRequest(
            "GET", server.url(),
            headers: ["Accept": "application/json", "X-Odd": "a;b=\"c, d\"\te", "X-Empty": "", "Content-Length": "7"])
        _ = try await engine.executor().execute(request)
        let received = try #require(await server.requests.first { _ in true })
        #expect(received["Accept"] == "application/json")
        #expect(received["X-Odd"] == "a;b=\"c, d\"\te")
        #expect(received["X-Empty"] == "")
        #expect(received["Host"] == "127.0.0.1:\(server.port)")
        #expect(received["Content-Length"] == nil, "framing is the executor's")
    }

    @Test(arguments: Engine.allCases)
    func `a large body arrives whole`(engine: Engine) async throws {
        let server = try TestServer { $1.answer("200 OK", [("X-Count", "\($0.body.count)")]) }
        let response = try await engine.executor().execute(
            HTTPRequest("POST", server.url(), body: .pattern(count: 5 << 20)))
        #expect(response.headers["X-Count"] == "\(5 << 20)")
    }

    @Test(arguments: Engine.allCases)
    func `credentials in the URL go out as a header, and not in the URL`(engine: Engine) async throws {
        let server = try TestServer { $1.answer("204 No Content") }
        _ = try await engine.executor().execute(HTTPRequest("GET", "http://ann:p%40ss@127.0.0.1:\(server.port)/"))
        let received = try #require(await server.requests.first { _ in true })
        #expect(received["Authorization"] == "Basic \(Data("ann:p@ss".utf8).base64EncodedString())")
        #expect(received.target == "/")
    }

    @Test(arguments: Engine.allCases)
    func `a redirect to a port that does not exist is refused`(engine: Engine) async throws {
        let server = try TestServer { _, connection in
            connection.answer("302 Found", [("Location", "http://127.0.0.1:99999/")])
        }
        var options = HTTPOptions()
        options.redirects = 20
        let network = HTTPPipeline([engine.executor()]), limited = options
        let error = await #expect(throws: BackplaneError.self) {
            try await network.send(HTTPRequest("GET", server.url()), limited)
        }
        #expect(error?.code == .networkRefused && error?.message.contains("99999") == true)
    }

    @Test(
        arguments: Engine.allCases,
        [
            HTTPRequest("GE T", "http://127.0.0.1/?secret=1"),
            HTTPRequest("", "http://127.0.0.1/?secret=1"),
            HTTPRequest("GET\r\nX: y", "http://127.0.0.1/?secret=1"),
            HTTPRequest("GET", "http://127.0.0.1/", headers: ["X-A": "secret\r\nX-B: b"]),
            HTTPRequest("GET", "http://127.0.0.1/", headers: ["X-A": "secret\0"]),
            HTTPRequest("GET", "http://127.0.0.1/", headers: ["X A": "secret"]),
            HTTPRequest("GET", "http://127.0.0.1/", headers: ["": "secret"]),
            HTTPRequest("GET", "http:///books?secret"),
            HTTPRequest("GET", "http://127.0.0.1:secret/"),
            HTTPRequest("GET", "http://127.0.0.1:65536/?secret"),
            HTTPRequest("GET", "http://[::1]:99999/?secret"),
            HTTPRequest("GET", "books?secret"),
            HTTPRequest("GET", ""),
            HTTPRequest("GET", "ftp://ann:secret@127.0.0.1/"),
        ])
    func `an invalid request is refused, without printing a secret`(engine: Engine, request: HTTPRequest) async throws {
        let error = try #require(
            await #expect(throws: BackplaneError.self) { try await engine.executor().execute(request) })
        #expect(error.code == .networkRefused)
        #expect(!error.detailedDescription.contains("secret"))
        #expect(!error.message.contains("\n") && !error.message.contains("\r"))
    }

    @Test(
        arguments: [
            ("http://h/a", "http://h/a"),
            ("http://ann:secret@h:80/a?key=secret#secret", "http://h:80/a"),
            ("https://[::1]:8443/a@b", "https://[::1]:8443/a@b"),
            ("file:almanac/events.json", "file:almanac/events.json"),
            ("ann:secret@h/a", "ann:…"),
            ("http://ann:se/cret@h/a", "http:…"),
        ])
    func `a URL is printed without its secrets`(url: String, printed: String) {
        #expect(HTTPRequest("GET", url).printableURL == printed)
    }
}

extension [UInt8] {
    /// Bytes that repeat with a period that no buffer has, made by doubling: quick in debug builds too.
    static func pattern(count: Int) -> [UInt8] {
        var bytes = [UInt8](0...250)
        while bytes.count < count { bytes += bytes }
        return Array(bytes.prefix(count))
    }
}

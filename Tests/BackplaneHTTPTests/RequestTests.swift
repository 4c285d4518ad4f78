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
        arguments: [
            ("http://h/a", "http://h/a"),
            ("http://ann:secret@h:80/a?key=secret#secret", "http://h:80/a"),
            ("https://[::1]:8443/a@b", "https://[::1]:8443/a@b"),
            ("file:almanac/events.json", "file:almanac/events.json"),
            ("http://ann:secret@h/a b|%C3%A9", "http://h/a%20b%7C%C3%A9"), ("ann:secret@h/a", "ann:…"),
            ("http://ann:se/cret@h/a", "http:…"),
        ])
    func `a URL is printed without its secrets`(url: String, printed: String) {
        #expect(HTTPRequest("GET", url).printableURL == printed)
    }

    @Test func `methods of the standard are upper-case, and others as they are written`() {
        var request = HTTPRequest("patch", "http://h")
        #expect(request.method == "PATCH")
        request.method = "Get"
        #expect(request.method == "GET" && HTTPRequest("purge", "http://h").method == "purge")
    }

    @Test func `fields are equal whatever the case of their names, and white space is no part of their values`() {
        var headers: HTTPHeaders = ["ETag": "\"v1\" ", "X-Empty": " \t"]
        #expect(headers == ["etag": "\"v1\"", "x-empty": ""])
        #expect(headers != ["etag": "\"V1\"", "x-empty": ""])
        headers["Location"] = "\t/a b "
        #expect(headers["location"] == "/a b")
    }

    @Test(arguments: [("5", 5), ("+5", nil), ("0x5", nil), ("5.0", nil), ("-5", nil), ("", nil)] as [(String, Int64?)])
    func `a length is a number of digits`(text: String, length: Int64?) {
        let response = HTTPResponse(status: 200, headers: ["Content-Length": text])
        #expect(HTTPStreamedResponse(response).contentLength == length)
    }

    @Test func `the fraction of a body is known with its length`() {
        var progress = HTTPProgress()
        #expect(progress.fraction == nil)
        (progress.sent, progress.toSend) = (3, 4)
        #expect(progress.fraction == 0.75)
        (progress.received, progress.toReceive) = (1, 2)
        #expect(progress.fraction == 0.5)
        (progress.received, progress.toReceive) = (0, 0)
        #expect(progress.fraction == 1)
    }
}

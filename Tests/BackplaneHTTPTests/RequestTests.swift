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
            ("ann:secret@h/a", "ann:…"),
            ("http://ann:se/cret@h/a", "http:…"),
        ])
    func `a URL is printed without its secrets`(url: String, printed: String) {
        #expect(HTTPRequest("GET", url).printableURL == printed)
    }
}

extension [UInt8] {
}

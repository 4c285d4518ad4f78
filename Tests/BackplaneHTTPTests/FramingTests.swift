import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import BackplaneTestKit
import BackplaneURLSession
import Foundation
import Testing

/// Responses whose framing is a case of RFC 9110 and 9112, and what the executors make of them.
@Suite(.timeLimit(.minutes(5)))
struct FramingTests {
    @Test func `the bytes of a field that are not UTF-8 are replaced`() async throws {
        let server = try TestServer { _, connection in
            connection.send(Array("HTTP/1.1 204 No Content\r\nX-A: caf".utf8) + [0xE9] + Array("\r\n\r\n".utf8))
        }
        let http = AsyncHTTPClientExecutor(proxies: .none)
        #expect(try await http.execute(HTTPRequest("GET", server.url())).headers["X-A"] == "caf\u{FFFD}")
        await http.shutdown()
    }

    @Test func `a head without end is an error, and is not held in memory`() async throws {
        let server = try TestServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\n")
            let line = "X-Filler: \(String(repeating: "x", count: 1_000))\r\n"
            for _ in 0..<100_000 where !connection.wasLeft { connection.send(line) }
        }
        let http = AsyncHTTPClientExecutor(proxies: .none)
        let error = await #expect(throws: BackplaneError.self) {
            try await http.execute(HTTPRequest("GET", server.url()))
        }
        #expect(error?.code == .networkMalformed, "\(String(describing: error))")
        _ = await server.departures.first { _ in true }
        await http.shutdown()
    }
}

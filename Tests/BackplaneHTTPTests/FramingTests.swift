#if Engines
import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import BackplaneTestKit
import Testing

/// Responses whose framing contradicts itself or has no bounds (RFC 9112), and how AsyncHTTPClient treats them.
@Suite(.timeLimit(.minutes(5)))
struct FramingTests {
    /// Sends a request to a server that answers with these bytes, and closes.
    private func response(to method: String = "GET", _ bytes: String, keeping: Bool = false) async throws
        -> HTTPResponse
    {
        let server = try TestServer { _, connection in
            connection.send(bytes)
            if !keeping { connection.close() }
        }
        let http = AsyncHTTPClientExecutor(proxies: .none)
        do {
            let response = try await http.execute(HTTPRequest(method, server.url()))
            await http.shutdown()
            return response
        } catch {
            await http.shutdown()
            throw error
        }
    }

    @Test(
        arguments: [
            "Content-Length: 4\r\nContent-Length: 5", "Content-Length: 4, 5", "Content-Length: -4",
            "Content-Length: 4x", "Content-Length: 99999999999999999999999",
        ])
    func `lengths that conflict or are none are an error`(fields: String) async throws {
        let error = await #expect(throws: BackplaneError.self) {
            try await response("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\nbody")
        }
        #expect(error?.code == .networkMalformed, "\(String(describing: error))")
    }

    @Test func `a length beside chunks is no length`() async throws {
        // RFC 9112, section 6.3: the transfer coding decides; a response like this may be an attempt at smuggling.
        do {
            let body = try await response(
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"
            ).body
            #expect(body == Array("body".utf8))
        } catch let error as BackplaneError {
            #expect(error.code == .networkMalformed)
        }
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

    @Test(arguments: ["HTTP/1.1 204 No Content", "HTTP/1.1 304 Not Modified"])
    func `a response that has no body ends with its head`(status: String) async throws {
        #expect(try await response("\(status)\r\nContent-Length: 4\r\n\r\nbody").body == [])
    }

    @Test func `a response to HEAD has a length and no body`() async throws {
        let response = try await response(to: "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", keeping: true)
        #expect(response.headers["Content-Length"] == "4" && response.body == [])
    }

    @Test func `a body without a length ends with its connection`() async throws {
        #expect(try await response("HTTP/1.0 200 OK\r\n\r\nto the end").body == Array("to the end".utf8))
    }

    @Test(arguments: ["Content-Length: 10\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\na\r\nhalf"])
    func `a body that ends before its length is an error`(rest: String) async throws {
        let error = await #expect(throws: BackplaneError.self) { try await response("HTTP/1.1 200 OK\r\n\(rest)") }
        #expect(error?.code == .networkFailed)
    }
}
#endif

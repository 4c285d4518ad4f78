#if Engines
import Backplane
import BackplaneConformance
import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import BackplaneTestKit
import Synchronization
import Testing

/// Kept connections that a server closes just when they are used again.
@Suite(.timeLimit(.minutes(5)))
struct ClosedConnectionTests {
    /// A server that keeps each connection for one response, says so to nobody, and closes it at the next request.
    private static func forgetful(closing count: Int = .max) throws -> (TestServer, Counted) {
        let closed = Counted(), served = Mutex<Set<Int>>([])
        let server = try TestServer { request, connection in
            guard served.withLock({ $0.insert(connection.number).inserted }) || closed.value >= count else {
                closed.add(1)
                return connection.close()
            }
            connection.answer("200 OK", body: request.body)
        }
        return (server, closed)
    }

    @Test func `a kept connection that is closed costs an idempotent request another attempt`() async throws {
        let (server, closed) = try Self.forgetful(), http = AsyncHTTPClientExecutor(proxies: .none)
        #expect(try await http.execute(HTTPRequest("GET", server.url())).timings.attempts == 1)
        for (number, method) in ["GET", "PUT", "DELETE", "HEAD"].enumerated() {
            let body = method == "PUT" ? HTTPBody.replayable { Bytes("again") } : .none
            let response = try await http.execute(HTTPRequest(method, server.url(), body: body))
            #expect(response.status == 200 && response.timings.attempts == 2)
            #expect(response.body == (method == "PUT" ? Array("again".utf8) : []))
            #expect(closed.value == number + 1)
        }
        await http.shutdown()
    }

    @Test func `what is not idempotent, or cannot be sent again, is not repeated`() async throws {
        for request in [
            HTTPRequest("POST", "", body: .text("once")), HTTPRequest("PATCH", ""),
            HTTPRequest("PUT", "", body: .stream(Bytes("once"))),
        ] {
            let (server, closed) = try Self.forgetful(), http = AsyncHTTPClientExecutor(proxies: .none)
            _ = try await http.execute(HTTPRequest("GET", server.url()))
            var request = request
            request.url = server.url()
            let error = await #expect(throws: BackplaneError.self) { try await http.execute(request) }
            #expect(error?.code == .networkFailed && closed.value == 1)
            await http.shutdown()
        }
    }

    @Test func `a new connection that is closed is an error, and a request is repeated once at most`() async throws {
        let closed = Counted()
        let server = try TestServer { request, connection in
            if request.target == "/kept" { return connection.answer("200 OK") }
            closed.add(1)
            connection.close()
        }
        let http = AsyncHTTPClientExecutor(proxies: .none)
        for (path, total) in [("/", 1), ("/kept", 1), ("/", 3)] {
            do {
                _ = try await http.execute(HTTPRequest("GET", server.url(path)))
                #expect(path == "/kept")
            } catch {
                #expect((error as? BackplaneError)?.code == .networkFailed && path == "/")
            }
            #expect(closed.value == total)
        }
        await http.shutdown()
    }

    @Test func `a kept connection that breaks off within a head is an error`() async throws {
        let closed = Counted()
        let server = try TestServer { request, connection in
            if request.target == "/kept" { return connection.answer("200 OK") }
            closed.add(1)
            connection.send("HTTP/1.1 200 O")
            connection.close()
        }
        let http = AsyncHTTPClientExecutor(proxies: .none)
        _ = try await http.execute(HTTPRequest("GET", server.url("/kept")))
        let error = await #expect(throws: BackplaneError.self) {
            try await http.execute(HTTPRequest("GET", server.url()))
        }
        #expect(error?.code == .networkFailed && closed.value == 1)
        await http.shutdown()
    }
}

/// The bytes of a text, as one chunk.
private struct Bytes: AsyncSequence, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    struct Iterator: AsyncIteratorProtocol {
        var text: String?

        mutating func next() async -> [UInt8]? {
            defer { text = nil }
            return text.map { Array($0.utf8) }
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(text: text) }
}
#endif

import Backplane
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Testing

/// The trace of a call in the exchanges that are made for it: in the log, and in what chosen hosts receive.
@Suite(.timeLimit(.minutes(5)))
struct ExchangeTraceTests {
    /// A server that answers with the trace that it has received.
    private func server() throws -> TestServer {
        try TestServer { request, connection in
            connection.answer("200 OK", body: Array((request["traceparent"] ?? "none").utf8))
        }
    }

    private func text(_ response: HTTPResponse) -> String { String(decoding: response.body, as: UTF8.self) }

    @Test(arguments: Engine.allCases)
    func `a host that the manifest names receives the trace, and no other host does`(engine: Engine) async throws {
        let server = try server()
        try await LendingPlugin.lent(engine, traced: ["example.org", "127.0.0.1"]) { _, context in
            let call = context.begin(), trace = try #require(call.trace?.traceparent)
            let named = try await context.http.send(HTTPRequest("GET", server.url()), call)
            #expect(text(named) == trace)
            let other = "http://localhost:\(server.port)/"
            let unnamed = try await context.http.send(HTTPRequest("GET", other), call)
            #expect(text(unnamed) == "none")
            let own = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
            let chosen = try await context.http.send(
                HTTPRequest("GET", server.url(), headers: ["Traceparent": own]), call)
            #expect(text(chosen) == own, "what the component has set itself stays")
            let untraced = try await context.http.send(HTTPRequest("GET", server.url()), Call())
            #expect(text(untraced) == "none")
            let disguised = "http://127.0.0.1@localhost:\(server.port)/"
            let misled = try await context.http.send(HTTPRequest("GET", disguised), call)
            #expect(text(misled) == "none", "a name in front of the host is no host")
        }
    }

    @Test(arguments: Engine.allCases)
    func `the end of each exchange is logged with the trace, and without what may be secret`(engine: Engine)
        async throws
    {
        let server = try server(), log = TestLog()
        try await LendingPlugin.lent(engine) {
            $0.log = log
        } _: { _, context in
            let call = context.begin(), id = try #require(call.trace?.id)
            _ = try await context.http.send(HTTPRequest("GET", server.url("/books?key=secret")), call)
            let whole = try await log.record("exchange ended").metadata
            #expect(whole["trace"] == id && whole["component"] == "LendingCommunication" && whole["status"] == "200")
            #expect(whole["method"] == "GET" && whole["url"] == server.url("/books"))
            server.stop()
            let failed = await #expect(throws: BackplaneError.self) {
                try await context.http.send(HTTPRequest("GET", server.url("/gone")), call)
            }
            let ended = log.records.filter { $0.message == "exchange ended" }
            #expect(ended.count == 2 && ended.last?.metadata["trace"] == id)
            #expect(ended.last?.metadata["error"] == failed?.code.rawValue && ended.last?.metadata["status"] == nil)
            #expect(!log.records.contains { $0.metadata.values.contains { $0.contains("secret") } })
        }
    }
}

import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Testing

/// What loads log, at each level, and that it contains no secrets.
@Suite(.timeLimit(.minutes(5)))
struct LoadLogTests {
    private struct Line: Sendable {
        var message: String
        var metadata: [String: String]
    }

    /// A server that fails the first request, and then answers with a secret.
    private func server() throws -> TestServer {
        let count = Recording<Void>()
        return try TestServer { _, connection in
            count.add(())
            guard count.all.count > 1 else { return connection.answer("503 Unavailable") }
            connection.answer("200 OK", [("Set-Cookie", "id=secret"), ("Content-Type", "text/plain")], body: [0x61])
        }
    }

    private func lines(_ level: LoadLogLevel?, by client: LoadLogLevel = .none, kind: ClientKind) async throws -> [Line]
    {
        let server = try server(), lines = Recording<Line>()
        try await kind.lend { http, call async throws in
            var http = http.relative(to: server.url())
            http.defaults.logLevel = client
            http.defaults.log = { message, metadata, _ in lines.add(Line(message: message, metadata: metadata)) }
            var endpoint = Endpoint<String>(
                "POST", "books", query: ["key": "secret"],
                headers: ["Authorization": "secret", "Accept": "text/plain"],
                body: .text("secret"))
            var retry = RetryPolicy.immediate
            retry.repeatsAnyMethod = true
            (endpoint.retry, endpoint.logLevel) = (retry, level)
            #expect(try await http.load(endpoint, call) == "a")
        }
        for line in lines.all { #expect(!"\(line)".contains("secret")) }
        return lines.all
    }

    @Test(arguments: ClientKind.all)
    func `each level logs what it says, and that of the endpoint goes before the client's`(kind: ClientKind)
        async throws
    {
        let none = try await lines(nil, kind: kind),
            quiet = try await lines(LoadLogLevel.none, by: .verbose, kind: kind)
        #expect(none.isEmpty && quiet.isEmpty)
        for minimal in [try await lines(.minimal, kind: kind), try await lines(nil, by: .minimal, kind: kind)] {
            #expect(minimal.map(\.message) == ["load ended"])
            let end = try #require(minimal.first).metadata
            #expect(end["method"] == "POST" && end["status"] == "200" && end["attempts"] == "2")
            #expect(end["url"]?.hasSuffix("/books") == true && Int(end["milliseconds"] ?? "") != nil)
        }
        let verbose = try await lines(.verbose, kind: kind)
        #expect(verbose.map(\.message) == ["load started", "attempt", "attempt", "response", "load ended"])
        #expect(verbose[0].metadata["request"]?.hasPrefix("curl ") == true)
        #expect(verbose[0].metadata["request"]?.contains("Accept: text/plain") == true)
        #expect(verbose[1].metadata == ["attempt": "1", "status": "503"])
        #expect(verbose[2].metadata == ["attempt": "2", "status": "200"])
        let fields = verbose[3].metadata["fields"]
        #expect(fields?.contains("Content-Type: text/plain") == true && fields?.contains("Set-Cookie: …") == true)
    }

    @Test func `a URL that is refused is logged without its password`() async throws {
        let lines = Recording<Line>()
        var http = HTTPClient([MemoryExecutor { _, _ in HTTPStreamedResponse(HTTPResponse(status: 200)) }])
        http.defaults.logLevel = .minimal
        http.defaults.log = { message, metadata, _ in lines.add(Line(message: message, metadata: metadata)) }
        _ = try? await http.load(Endpoint<String>("GET", "https://ann:secret@books.test/whale?key=secret"))
        #expect(lines.all.count == 1 && !"\(lines.all)".contains("secret"), "\(lines.all)")
    }

    @Test func `a component logs under its own name, with the trace of the call`() async throws {
        let log = TestLog(), server = try TestServer { $1.answer("404 Not Found") }
        try await LendingPlugin.lent(.urlSession) {
            $0.log = log
        } _: { _, context in
            var endpoint = Endpoint<String>("GET", "books")
            endpoint.logLevel = .minimal
            let call = context.begin(), http = context.http.relative(to: server.url())
            _ = try? await http.load(endpoint, call)
            let record = try await log.record("load ended")
            #expect(record.source == "LendingCommunication" && record.level == .info)
            #expect(record.metadata["error"] == "network.status" && record.metadata["status"] == "404")
            #expect(record.metadata["trace"] == call.trace?.id)
        }
    }
}

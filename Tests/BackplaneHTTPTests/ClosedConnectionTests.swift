import Backplane
import BackplaneConformance
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import NIOHTTP2
import Synchronization
import Testing

@testable import BackplaneHTTP

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
}

/// Servers that answer, or close a connection, before they have taken all requests.
@Suite(.timeLimit(.minutes(5)))
struct EarlyAnswerTests {
    @Test func `an HTTP/2 connection that its server closes gracefully fails no idempotent request`() async throws {
        let files = try TestFolder(), roots = URL(filePath: files.path + "/roots.pem")
        try Data(TestIdentity.servers.certificate.utf8).write(to: roots)
        let server = try await SecureTestServer(.server, requestsPerConnection: 30) { request in
            .init(body: Array("\(request.connection)".utf8))
        }
        let http = AsyncHTTPClientExecutor(trustRoots: roots.path, proxies: .none)
        let request = HTTPRequest("GET", server.url())
        #expect(try await http.execute(request).body == Array("0".utf8))  // HTTP/2 is known from now on
        let responses = try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
            for _ in 0..<48 { group.addTask { try await http.execute(request) } }
            return try await group.reduce(into: [HTTPResponse]()) { $0.append($1) }
        }
        #expect(responses.allSatisfy { $0.status == 200 } && server.requestCount == 49, "none was processed twice")
        #expect(responses.count { $0.body == Array("0".utf8) } == 29, "the first connection took 30 in all")
        await http.shutdown()
        await server.stop()
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

import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Synchronization
import Testing

/// More exchanges at once than there are connections: those that wait are bounded by nothing, and none is lost.
@Suite(.timeLimit(.minutes(10)))
struct ManyExchangesTests {
    private static let connections = 32

    /// The number of requests that a server answers at once, and the greatest so far.
    private final class Crowd: Sendable {
        private let counts = Mutex((now: 0, most: 0))

        var most: Int { counts.withLock { $0.most } }

        func count(_ step: () -> Void) {
            counts.withLock { counts in
                counts.now += 1
                counts.most = max(counts.most, counts.now)
            }
            step()
            counts.withLock { $0.now -= 1 }
        }
    }

    /// Sends 10,000 requests at once, and checks that each has its own response.
    private func sendMany(_ send: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) async throws {
        let crowd = Crowd()
        let server = try TestServer { request, connection in
            crowd.count { connection.answer("200 OK", body: Array(request.target.utf8)) }
        }
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<10_000 {
                let request = HTTPRequest("GET", server.url("/\(number)"))
                group.addTask {
                    let text = String(decoding: try await send(request).body, as: UTF8.self)
                    return text == "/\(number)" ? text : "\(text) for \(number)"
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(answers == Set((0..<10_000).map { "/\($0)" }))
        #expect(crowd.most <= Self.connections)
    }

    private func executor() -> AsyncHTTPClientExecutor {
        AsyncHTTPClientExecutor(
            connectTimeout: .seconds(60), connectionsPerHost: Self.connections, proxies: .none)
    }

    @Test func `of 10,000 requests of a program none is lost, and connections are bounded`() async throws {
        let executor = executor(), network = HTTPPipeline([executor])
        try await sendMany { try await network.send($0) }
        await executor.shutdown()
    }

    @Test func `of 10,000 requests of a component none is lost, and all are counted`() async throws {
        let executor = executor()
        try await LendingPlugin.lent(.asyncHTTPClient) {
            $0.executors = [executor]
        } _: { host, context in
            let http = context.http
            try await sendMany { try await http.send($0, context.begin()) }
            try await eventually {
                let counts = await host.statistics.first { $0.role == "communication controller" }?.exchanges
                return counts?.begun == 10_000 && counts?.failed == 0 && counts?.inFlight == 0
            }
        }
        await executor.shutdown()
    }

    @Test func `responses that a component never reads do not keep others from their server`() async throws {
        let server = try TestServer { request, connection in
            guard request.target == "/held" else { return connection.answer("200 OK", body: [7]) }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            connection.stall()
        }
        try await LendingPlugin.lent(.asyncHTTPClient) {
            $0.exchangeIdleLimit = .seconds(10)
        } _: { host, context in
            var held: [HTTPStreamedResponse] = []
            // As many as an executor has connections to one host.
            for _ in 0..<64 {
                held.append(try await context.http.open(HTTPRequest("GET", server.url("/held")), context.begin()))
            }
            let response = try await context.http.send(HTTPRequest("GET", server.url("/")), context.begin())
            #expect(response.body == [7])
            // One that is read in time is not idle, and waits for the server.
            try await eventually {
                let counts = await host.statistics.first { $0.role == "communication controller" }?.exchanges
                return counts?.begun == 65 && counts?.failed == 64 && counts?.inFlight == 0
            }
            for response in held {
                let error = await #expect(throws: BackplaneError.self) { try await response.body.collect(upTo: 100) }
                #expect(error?.code == .networkTimeout)
            }
        }
    }
}

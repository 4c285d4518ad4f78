import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

/// More exchanges at once than there are connections: those that wait are bounded by nothing, and none is lost.
@Suite(.timeLimit(.minutes(10)))
struct ManyExchangesTests {
    @Test func `responses that a component never reads do not keep others from their server`() async throws {
        let server = try TestServer { request, connection in
            guard request.target == "/held" else { return connection.answer("200 OK", body: [7]) }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            connection.stall()
        }
        let clock = TestClock()
        try await LendingPlugin.lent(.asyncHTTPClient) {
            $0.clock = clock
        } _: { host, context in
            var held: [HTTPStreamedResponse] = []
            // As many as an executor has connections to one host.
            for _ in 0..<64 {
                held.append(try await context.http.open(HTTPRequest("GET", server.url("/held")), context.begin()))
            }
            async let waiting = context.http.send(HTTPRequest("GET", server.url("/")), context.begin())
            try await clock.expire(.seconds(60), waiters: 64)
            // One that waits for the server is not idle.
            let response = try await waiting
            #expect(response.body == [7])
            // The last one may count as read a little later than it is there.
            await clock.passing(.seconds(60)) {
                await eventually {
                    let counts = await host.statistics.first { $0.role == "communication controller" }?.exchanges
                    return counts?.begun == 65 && counts?.failed == 64 && counts?.inFlight == 0
                }
            }
            for response in held {
                let error = await #expect(throws: BackplaneError.self) { try await response.body.collect(upTo: 100) }
                #expect(error?.code == .networkTimeout)
            }
        }
    }
}

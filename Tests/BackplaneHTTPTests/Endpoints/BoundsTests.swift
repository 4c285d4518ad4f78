import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import Testing

/// Options beyond what an exchange can have, and limits that pass while a body is read.
@Suite(.timeLimit(.minutes(5)))
struct BoundsTests {
    @Test(arguments: ClientKind.all)
    func `numbers that no exchange can have count as the nearest ones, alike everywhere`(
        kind: ClientKind
    ) async throws {
        let server = try TestServer { $1.answer("200 OK", body: [49]) }
        try await kind.lend { http, call async throws in
            let http = http.relative(to: server.url())
            for (large, time) in [(Int.max, Duration.seconds(Int64.max)), (.min, .seconds(Int64.max))] {
                var endpoint = Endpoint<Int>("GET", "")
                (endpoint.redirects, endpoint.timeout) = (large, time)
                (endpoint.options.headTimeout, endpoint.options.readTimeout) = (time, time)
                endpoint.options.maximumBodySize = large
                var retry = RetryPolicy(attempts: large)
                (retry.base, retry.limit, retry.retryAfterLimit) = (time, time, time)
                (retry.attemptTimeout, retry.statuses) = (time, [large, -1, 503])
                endpoint.retry = retry
                #expect(try await http.load(endpoint, call) == 1)
            }
            // Nothing takes no time at all.
            var endpoint = Endpoint<Int>("GET", "")
            endpoint.options.headTimeout = .seconds(Int64.min)
            let error = await #expect(throws: BackplaneError.self) {
                let number = try await http.load(endpoint, call)
                return number
            }
            #expect(error?.code == .networkTimeout)
        }
    }

    @Test(arguments: ClientKind.streaming)
    func `a deadline that passes while the body is read is the call's`(kind: ClientKind) async throws {
        let server = try TestServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            connection.stall()
        }
        try await kind.lend { http, call async throws in
            try await withLonger(.seconds(1)) { limit in
                let call = call.within(limit)
                guard let response = try? await http.open(HTTPRequest("GET", server.url()), call) else { return false }
                let error = await #expect(throws: BackplaneError.self) { try await response.collect() }
                #expect(error?.code == .callDeadline, "\(String(describing: error))")
                return true
            }
        }
    }

    @Test(arguments: ClientKind.streaming)
    func `the error of a load's time limit is about the load, and says what happened before`(
        kind: ClientKind
    ) async throws {
        // A late request of an earlier round has that round's target.
        let counts = Mutex<[String: Int]>([:])
        let server = try TestServer { request, connection in
            let number = counts.withLock { counts in
                counts[request.target, default: 0] += 1
                return counts[request.target, default: 0]
            }
            if number == 1 { connection.answer("200 OK", body: [49]) } else { connection.stall() }
        }
        try await kind.lend { http, call async throws in
            var endpoint = Endpoint<Int>("GET", ""), limit = Duration.milliseconds(200), round = 0
            endpoint.retry = .immediate
            endpoint.verdict = { _, _ in .retry("it is not ready") }
            while true {
                round += 1
                endpoint.path = "\(round)"
                endpoint.timeout = limit
                let error = await #expect(throws: BackplaneError.self) {
                    let number = try await http.relative(to: server.url()).load(endpoint, call)
                    return number
                }
                // On a busy machine a short limit passes before the second request.
                guard counts.withLock({ [target = "/\(round)"] in $0[target] }) == 2 else {
                    limit *= 2
                    continue
                }
                #expect(error?.code == .networkTimeout)
                #expect(
                    error?.message
                        == "the load did not end within \(limit), its time limit: the response was rejected: it is not ready"
                )
                break
            }
        }
    }

    @Test(arguments: Engine.allCases)
    func `a length that no body follows is no length of a body`(engine: Engine) async throws {
        let server = try TestServer { request, connection in
            let status = request.method == "HEAD" ? "200 OK" : "304 Not Modified"
            connection.send("HTTP/1.1 \(status)\r\nContent-Length: 100000\r\n\r\n")
        }
        let executor = engine.executor()
        for (method, status) in [("HEAD", 200), ("GET", 304)] {
            let response = try await executor.execute(HTTPRequest(method, server.url()), upTo: 1_000)
            #expect(response.status == status && response.body.isEmpty)
        }
    }
}

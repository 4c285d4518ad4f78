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
}

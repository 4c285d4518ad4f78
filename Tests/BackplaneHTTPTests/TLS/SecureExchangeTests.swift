import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork
import Foundation
import Testing

/// Exchanges over TLS and HTTP/2, by an executor that trusts the authority of the servers alone.
@Suite(.timeLimit(.minutes(5)))
struct SecureExchangeTests {
    /// Runs a step with a server that reports the requests that it receives.
    private func with(
        _ identity: TestIdentity = .server, offersHTTP2: Bool = true,
        _ step: (SecureTestServer, AsyncHTTPClientExecutor) async throws -> Void
    ) async throws {
        let server = try await SecureTestServer(identity, offersHTTP2: offersHTTP2) { request in
            .init(body: Array("\(request.method) \(request.target) \(request.bodyCount)".utf8))
        }
        do {
            try await TestIdentity.withRoots { roots in
                let executor = AsyncHTTPClientExecutor(trustRoots: roots, proxies: .none)
                try await step(server, executor)
                await executor.shutdown()
            }
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    @Test func `HTTP/1.1 is used where the server offers nothing else`() async throws {
        try await with(offersHTTP2: false) { server, executor in
            let response = try await executor.open(HTTPRequest("GET", server.url()), HTTPOptions())
            #expect(response.version == "HTTP/1.1" && response.status == 200)
        }
    }

    @Test(arguments: [TestIdentity.expired, .otherHost, .strangeServer, .selfSigned])
    func `a server with another certificate is refused, and no request arrives`(identity: TestIdentity) async throws {
        try await with(identity) { server, executor in
            let error = await #expect(throws: BackplaneError.self) {
                try await executor.execute(HTTPRequest("GET", server.url("/?secret")))
            }
            #expect(error?.code == .networkInsecure && error?.message.contains("no secure connection") == true)
            #expect(server.requestCount == 0)
        }
    }

    @Test func `HTTP/2 is used where the server offers it, for many exchanges on one connection`() async throws {
        try await with { server, executor in
            let first = try await executor.open(HTTPRequest("GET", server.url()), HTTPOptions())
            #expect(first.version == "HTTP/2")
            _ = try await first.collect()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...40 {
                    group.addTask {
                        let response = try await executor.execute(
                            HTTPRequest("POST", server.url("/\(number)"), body: .pattern(count: number * 1000)))
                        #expect(response.body == Array("POST /\(number) \(number * 1000)".utf8))
                    }
                }
                try await group.waitForAll()
            }
            #expect(server.requestCount == 41)
        }
    }
}

import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

/// Exchanges that a method leaves open when it returns.
@Suite(.timeLimit(.minutes(5)))
struct LeftExchangeTests {
    /// Runs a host with a manager that fetches texts, whose server sends one chunk of a body and then nothing.
    ///
    /// - Parameter released: A function that is called once the server's side of the exchange is released.
    private func withTextFetcher(
        _ lanes: LaneRule, by clock: TestClock? = nil, released: @escaping @Sendable () -> Void = {},
        _ body: (PluginHost, Remote<TextFetching>) async throws -> Void
    ) async throws {
        let executor = MemoryExecutor { _, _ in
            let stream = HTTPBodyStream(HaltingChunks())
            return HTTPStreamedResponse(
                status: 200,
                body: HTTPBodyStream(cancel: released) {
                    try await stream.next()
                })
        }
        let manifest = Manifest(
            plugins: [],
            managers: [
                "TextFetcher": ManagerDefinition(
                    className: "TextFetcherManager",
                    communicationController: ComponentDefinition(className: "TextFetcherCommunication"))
            ])
        try await PluginHost.running(manifest, [RelayPlugin.self], executors: [executor], lanes: lanes) {
            $0.clock = clock
        } _: { host in
            try await body(host, try await host.manager("TextFetcher"))
        }
    }

    private func left(at url: String) throws -> HTTPStreamedResponse {
        try #require(TextFetcherCommunication.left.withLock { $0.removeValue(forKey: url) })
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `the return of a method does not end the exchange that it leaves open`(lanes: LaneRule) async throws {
        try await withTextFetcher(lanes) { host, fetcher in
            let url = "http://books.test/\(UUID().uuidString)"
            _ = try await fetcher.leave(url, host.begin())
            let response = try left(at: url)
            #expect(await host.statistics.first { $0.role == "communication controller" }?.exchanges.inFlight == 1)
            #expect(try await response.body.next() == Array("half".utf8))
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `an exchange that a method leaves open ends with the idle limit`(lanes: LaneRule) async throws {
        let clock = TestClock(), (ended, end) = AsyncStream.makeStream(of: Void.self)
        try await withTextFetcher(lanes, by: clock, released: { end.yield() }) { host, fetcher in
            let url = "http://books.test/\(UUID().uuidString)"
            _ = try await fetcher.leave(url, host.begin())
            _ = await clock.passing(.seconds(60)) { await ended.first { _ in true } }
            let response = try left(at: url)
            let error = await #expect(throws: BackplaneError.self) { try await response.body.collect(upTo: 100) }
            #expect(error?.code == .networkTimeout && error?.message.contains("was not read") == true)
            #expect(await host.statistics.first { $0.role == "communication controller" }?.exchanges.inFlight == 0)
        }
    }
}

/// One chunk, and then none until the task is cancelled.
private struct HaltingChunks: AsyncSequence, Sendable {
    struct Iterator: AsyncIteratorProtocol {
        var hasBegun = false

        mutating func next() async throws -> [UInt8]? {
            guard hasBegun else {
                hasBegun = true
                return Array("half".utf8)
            }
            try await TestGate().pass()
            return nil
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator() }
}

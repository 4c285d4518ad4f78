import Backplane
import BackplaneHost
import BackplaneTestKit
import Foundation
import Testing

/// Streams in tests, and the examples of docs/streams.md, which are this target's code.
@Suite(.timeLimit(.minutes(2)))
struct StreamTests {
    private func total(from first: Int, _ fakes: [Fake.Place: Fake] = [:], lanes: LaneRule) async throws -> Int {
        let manifest = Manifest(managers: [
            "Feed": ManagerDefinition(className: "FeedManager"),
            "Totals": ManagerDefinition(className: "TotalsManager", uses: ["feed": "Feed"]),
        ])
        return try await TestHost.run(manifest, plugins: [FeedPlugin.self], fakes: fakes, lanes: lanes) { host in
            let totals: Remote<Totals> = try await host.manager("Totals")
            return try await totals.total(first)
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a component reads a stream`(lanes: LaneRule) async throws {
        #expect(try await total(from: 10, lanes: lanes) == (10..<110).reduce(0, +))
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a fake gives a stream that a test feeds`(lanes: LaneRule) async throws {
        let (changes, feed) = AsyncStream.makeStream(of: Change.self)
        for amount in [1, 20, 300] { feed.yield(Change(number: 0, amount: amount)) }
        feed.finish()
        let fake =
            Fake(Feed.self) { feed in
                feed.stream(\.changes) { _, elements, _ in try await elements.send(contentsOf: changes) }
            }
        #expect(try await total(from: 0, [.manager("Feed"): fake], lanes: lanes) == 321)
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a stream that a fake does not give is an error`(lanes: LaneRule) async throws {
        let thrown = await #expect(throws: BackplaneError.self) {
            try await total(from: 0, [.manager("Feed"): Fake(Feed.self)], lanes: lanes)
        }
        #expect(thrown?.code == .callUnimplemented)
    }
}

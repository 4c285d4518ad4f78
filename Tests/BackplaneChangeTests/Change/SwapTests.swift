import Backplane
import TestFixtures
import Testing

@testable import BackplaneHost

/// New code, old state, not one call lost.
@Suite(.timeLimit(.minutes(5)))
struct SwapTests {
    @Test(arguments: [LaneRule.fastest, .encoded])
    func `the new code continues from the old state, and callers notice nothing`(lanes: LaneRule) async throws {
        let counters = try CounterHost(lanes: lanes) { $0.checksState = true }, counter = try await counters.counter()
        #expect(try await counter.add(5) == 5)
        let report = try await counters.swap(CounterScript(edition: 2))
        #expect(report.outcome == .changed)
        #expect(try await counter.edition() == 2)
        #expect(try await counter.add(2) == 7)
        #expect(try counter.sumNow() == 7)
        #expect(try await counters.test.call("Counter", "add", "1") == "8")
        try await counters.counters["Counter"]!.until { $0.last == "gone 1" }
        let native = ["export 1", "export 1", "import 2", "export 2", "import 2"]
        #expect(
            counters.counters["Counter"]!.all == ["made 1", "activate 1", "made 2", "suspend 1"]
                + (lanes == .fastest ? native : ["export 1", "import 2", "export 2"]) + ["activate 2", "gone 1"],
            "a host that checks, as a debug build does, exports once more to compare, and tries JSON in any case")
        await counters.host.stop()
    }
}

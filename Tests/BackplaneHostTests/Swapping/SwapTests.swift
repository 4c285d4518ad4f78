import Backplane
import Testing

@testable import BackplaneHost

/// New code, old state, not one call lost.
@Suite(.timeLimit(.minutes(5)))
struct SwapTests {
    @Test(arguments: [LaneRule.fastest, .encoded])
    func `the new code goes on from the old state, and who calls notices nothing`(lanes: LaneRule) async throws {
        let tills = try TillHost(lanes: lanes) { $0.checksState = true }, till = try await tills.till()
        #expect(try await till.add(5) == 5)
        let report = try await tills.swap(TillScript(edition: 2))
        #expect(report.outcome == .swapped)
        #expect(try await till.edition() == 2)
        #expect(try await till.add(2) == 7)
        #expect(try till.sumNow() == 7)
        #expect(try await tills.test.call("Till", "add", "1") == "8")
        await eventually { tills.tills["Till"]!.all.last == "gone 1" }
        #expect(
            tills.tills["Till"]!.all == [
                "made 1", "activate 1", "made 2", "suspend 1", "export 1", "import 2", "export 2", "activate 2",
                "gone 1",
            ], "a host that checks, as a debug build does, exports once more to compare")
        await tills.host.stop()
    }
}

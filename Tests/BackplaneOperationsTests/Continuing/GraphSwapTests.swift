import Backplane
import BackplaneHost
import BackplaneTestKit
import Testing

/// Graphs while their component is swapped: a swap treats one as it treats a long call.
@Suite(.timeLimit(.minutes(5)))
struct GraphSwapTests {
    /// The script of an edition whose graphs wait at a gate.
    private func script(_ edition: Int = 1, waitingAt gate: TestGate? = nil) -> GraphRunnerScript {
        GraphRunnerScript(edition: edition) { try await gate?.pass() }
    }

    private func error(_ body: () async throws -> Void) async -> BackplaneError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? BackplaneError
        }
    }

    @Test func `a graph ends in the code that began it, or the swap names it`() async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(script(waitingAt: gate))
        try await runners.start()
        try await gate.arrivals()
        let failure = await error {
            try await runners.swap(script(2), drain: .upTo(.milliseconds(20), then: .fail))
        }
        #expect(
            failure?.message.contains("the graph `single` of GraphRunner") == true, "\(String(describing: failure))")
        let swap = Task { try await runners.swap(script(3)) }
        gate.open()
        #expect(try await swap.value.outcome == .swapped)
        #expect(runners.journal.visits.all == ["single 1"])
        await runners.stop()
    }

    @Test func `a swap comes later than a graph that outlasts the drain`() async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(script(waitingAt: gate))
        try await runners.start()
        try await gate.arrivals()
        let swap = Task {
            try await runners.swap(
                script(2), drain: .upTo(.milliseconds(20), then: .retry(attempts: 1_000, within: .seconds(3_600))))
        }
        _ = try await runners.journal.log.record("a swap is waiting for long calls")
        // The old code answers meanwhile.
        #expect(try await runners.runner.edition(Nothing(), runners.host.begin()) == 1)
        gate.open()
        #expect(try await swap.value.outcome == .swapped)
        #expect(runners.journal.visits.all == ["single 1"])
        await runners.stop()
    }

    @Test func `a swap that abandons graphs cancels those that have not ended`() async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(script(waitingAt: gate))
        try await runners.start()
        try await gate.arrivals()
        let report = try await runners.swap(
            script(2), drain: .upTo(.milliseconds(20), then: .fail), abandonsGraphs: true)
        #expect(report.warnings == ["the graph `single` of GraphRunner was cancelled"])
        #expect(runners.journal.visits.all == [])
        #expect(runners.host.operations.all.isEmpty)
        await runners.stop()
    }

    @Test func `a swap that fails leaves the graph where it was`() async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(script(waitingAt: gate))
        try await runners.start()
        try await gate.arrivals()
        var broken = script(2)
        broken.activated = { throw GraphRunnerMistake(description: "the activation failed") }
        let swap = Task { try await runners.swap(broken) }
        gate.open()
        let failure = await error { _ = try await swap.value }
        #expect(failure?.message.contains("the activation failed") == true, "\(String(describing: failure))")
        #expect(runners.journal.visits.all == ["single 1"])
        await runners.stop()
    }
}

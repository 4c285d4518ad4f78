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
        #expect(try await swap.value.outcome == .changed)
        #expect(runners.journal.visits.all == ["1, 1"])
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
        #expect(try await swap.value.outcome == .changed)
        #expect(runners.journal.visits.all == ["1, 1"])
        await runners.stop()
    }

    @Test func `a swap that cancels long calls cancels graphs, and says so`() async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(script(waitingAt: gate))
        try await runners.start()
        try await gate.arrivals()
        let report = try await runners.swap(script(2), drain: .upTo(.milliseconds(20), then: .cancel))
        #expect(
            report.warnings == [
                "cancelled: graphs have not ended within 0.02 seconds: the graph `single` of GraphRunner"
            ])
        #expect(report.components.flatMap(\.graphs) == [])
        #expect(runners.journal.visits.all == [])
        #expect(runners.host.operations.all.isEmpty)
        await runners.stop()
    }

    @Test func `a graph of a component whose calls do not wait ends in the old code after the swap`() async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(script(waitingAt: gate), isExclusive: false)
        try await runners.start()
        try await gate.arrivals()
        let report = try await runners.swap(script(2), drain: .upTo(.milliseconds(20), then: .fail))
        let runner = report.components.first { $0.component == "GraphRunner" }
        #expect(runner?.manner == .ungated && runner?.graphs == ["single"], "\(report)")
        #expect(report.warnings == [])
        #expect(try await runners.runner.edition(Nothing(), runners.host.begin()) == 2)
        let holders = try await runners.host.generations().first { $0.number == 1 }?.heldBy
        #expect(holders?.first == "1 graph of GraphRunner that has not ended")
        #expect(runners.host.operations.all.map(\.component) == ["GraphRunner"])
        // What the host does for the old instance continues: its calls reach the new code, and its log the host.
        gate.open()
        _ = try await runners.journal.log.record("the graph of edition 1 has called edition 2")
        #expect(try await runners.journal.visits.first { !$0.isEmpty } == "1, 2")
        await runners.stop()
        #expect(runners.host.operations.all.isEmpty)
    }

    @Test func `graphs of a component that the manifest no longer has are cancelled, and named`() async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(script(waitingAt: gate), isExclusive: false)
        try await runners.start()
        try await gate.arrivals()
        let empty = Manifest(managers: [:])
        let report = try await runners.host.swap([], applying: ManifestDocument(empty))
        #expect(
            report.warnings == [
                "the graph `single` of GraphRunner was cancelled, because the manifest no longer has its component"
            ])
        #expect(runners.host.operations.all.isEmpty && runners.journal.visits.all == [])
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
        #expect(runners.journal.visits.all == ["1, 1"])
        await runners.stop()
    }
}

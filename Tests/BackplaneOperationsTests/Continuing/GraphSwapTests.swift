import Backplane
import BackplaneBoundary
import BackplaneHost
import BackplaneOperations
import BackplaneTestKit
import Testing

/// Graphs while their component is swapped: what is done is not done again, and nothing is left out.
@Suite(.timeLimit(.minutes(5)))
struct GraphSwapTests {
    private static let whole = "round a b c d"

    /// A gate at which one stop of one edition waits.
    private func script(_ edition: Int = 1, waitingAt stop: String? = nil, _ gate: TestGate = TestGate())
        -> GraphRunnerScript
    {
        var script = GraphRunnerScript(edition: edition)
        script.visit = { name in if name == stop { try await gate.pass() } }
        return script
    }

    private func visits(_ runners: GraphRunnerHost) -> [String] {
        runners.journal.visits.all.filter { !$0.contains("handled") }
    }

    private func error(_ body: () async throws -> Void) async -> BackplaneError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? BackplaneError
        }
    }

    @Test(arguments: GraphRunnerHost.Kind.allCases)
    func `a node that outlasts the drain fails the swap, which names its graph, and the graph goes on`(
        kind: GraphRunnerHost.Kind
    ) async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(kind, script(waitingAt: "b", gate))
        _ = try await runners.start()
        try await gate.arrivals()
        let failure = await error {
            try await runners.swap(script(2), drain: .upTo(.milliseconds(20), then: .fail))
        }
        #expect(
            failure?.message.contains(
                "graphs have not ended within 0.02 seconds: a node of the graph `round` of GraphRunner") == true,
            "\(String(describing: failure))")
        gate.open()
        #expect(try await runners.result() == Self.whole)
        #expect(visits(runners) == ["a 1", "b 1", "c 1", "d 1"])
        await runners.stop()
    }

    @Test(arguments: GraphRunnerHost.Kind.allCases)
    func `a swap comes later than a node that outlasts the drain`(kind: GraphRunnerHost.Kind) async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(kind, script(waitingAt: "b", gate))
        _ = try await runners.start()
        try await gate.arrivals()
        let swap = Task {
            try await runners.swap(
                script(2), drain: .upTo(.milliseconds(20), then: .retry(attempts: 1_000, within: .seconds(3_600))))
        }
        _ = try await runners.journal.log.messages.first { $0 == "a swap is waiting for long calls" }
        // The old code answers meanwhile.
        #expect(try await runners.runner.edition(Nothing(), runners.host.begin()) == 1)
        while !runners.isHolding { await Task.yield() }
        gate.open()
        #expect(try await swap.value.outcome == .swapped)
        #expect(try await runners.result() == Self.whole)
        #expect(visits(runners).map { String($0.prefix(1)) } == ["a", "b", "c", "d"])
        await runners.stop()
    }

    @Test(arguments: GraphRunnerHost.Kind.allCases)
    func `a graph without a definition ends in the old code, or the swap names it`(kind: GraphRunnerHost.Kind)
        async throws
    {
        let gate = TestGate(), runners = try await GraphRunnerHost(kind, script(waitingAt: "single", gate))
        _ = try await runners.runner.single("single", runners.host.begin())
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

    @Test(arguments: GraphRunnerHost.Kind.allCases)
    func `a swap that abandons graphs cancels those that have not ended`(kind: GraphRunnerHost.Kind) async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(kind, script(waitingAt: "single", gate))
        _ = try await runners.runner.single("single", runners.host.begin())
        try await gate.arrivals()
        let report = try await runners.swap(
            script(2), drain: .upTo(.milliseconds(20), then: .fail), abandonsGraphs: true)
        #expect(report.warnings == ["the graph `single` of GraphRunner was cancelled"])
        #expect(runners.journal.visits.all == [])
        #expect(runners.host.operations.all.isEmpty)
        await runners.stop()
    }

    @Test(arguments: GraphRunnerHost.Kind.allCases)
    func `a swap that fails leaves the graph where it was`(kind: GraphRunnerHost.Kind) async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(kind, script(waitingAt: "b", gate))
        _ = try await runners.start()
        try await gate.arrivals()
        var broken = script(2)
        broken.activated = { throw GraphRunnerMistake(description: "the activation failed") }
        let swap = Task { try await runners.swap(broken) }
        gate.open()
        let failure = await error { _ = try await swap.value }
        #expect(failure?.message.contains("the activation failed") == true, "\(String(describing: failure))")
        #expect(try await runners.result() == Self.whole)
        #expect(visits(runners) == ["a 1", "b 1", "c 1", "d 1"])
        await runners.stop()
    }
}

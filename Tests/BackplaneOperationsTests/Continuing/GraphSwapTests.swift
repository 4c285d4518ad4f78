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
    func `the nodes that wait go on in new code, with the values of those that are done`(kind: GraphRunnerHost.Kind)
        async throws
    {
        let gate = TestGate(), runners = try await GraphRunnerHost(kind, script(waitingAt: "b", gate))
        let number = try await runners.start()
        try await gate.arrivals()
        let swap = Task { try await runners.swap(script(2)) }
        while !runners.isHolding { await Task.yield() }
        // The node that runs ends in the old code.
        gate.open()
        #expect(try await swap.value.outcome == .swapped)
        #expect(try await runners.result() == Self.whole)
        #expect(visits(runners) == ["a 1", "b 1", "c 2", "d 2"])
        #expect(
            runners.journal.visits.all.filter { $0.contains("handled") } == [
                "a handled 1", "b handled 1", "c handled 2", "d handled 2",
            ])
        #expect(number != 0)
        #expect(runners.host.operations.all.isEmpty, "whoever waits for a graph is told of its end after the host")
        await runners.stop()
    }

    @Test(arguments: GraphRunnerHost.Kind.allCases)
    func `a graph keeps its number, its name and its pause`(kind: GraphRunnerHost.Kind) async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(kind, script(waitingAt: "b", gate))
        let number = try await runners.start()
        try await gate.arrivals()
        try runners.host.operations.change(.pause, number, node: nil)
        gate.open()
        let report = try await runners.swap(script(2))
        #expect(report.warnings == [])
        let graph = try runners.host.operations.detail(of: number)
        #expect(graph.summary.name == "round" && graph.summary.isNamed)
        #expect(graph.nodes.map(\.state) == ["succeeded", "succeeded", "paused", "paused", "paused"])
        #expect(graph.nodes.map(\.name) == ["start", "a", "b", "c", "d"])
        #expect(visits(runners) == ["a 1", "b 1"])
        try runners.host.operations.change(.resume, number, node: nil)
        #expect(try await runners.result() == Self.whole)
        #expect(visits(runners) == ["a 1", "b 1", "c 2", "d 2"])
        await runners.stop()
    }

    @Test func `the nodes of a paused queue remain paused, and the queue of newer code is not paused`() async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(.gated, script(waitingAt: "a", gate))
        let number = try await runners.start()
        try await gate.arrivals()
        _ = try await runners.runner.control("pause queue", runners.host.begin())
        gate.open()
        try await runners.swap(script(2))
        let states = try runners.host.operations.detail(of: number).summary.states
        // The first stop has returned, and its result is withheld.
        #expect(states == ["succeeded": 1, "paused": 4])
        _ = try await runners.runner.single("single", runners.host.begin())
        _ = try await runners.journal.visits.first { $0 == "single 2" }
        try runners.host.operations.change(.resume, number, node: nil)
        #expect(try await runners.result() == Self.whole)
        #expect(visits(runners) == ["a 1", "single 2", "b 2", "c 2", "d 2"])
        await runners.stop()
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
    func `code without the definition of a graph that runs is refused`(kind: GraphRunnerHost.Kind) async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(kind, script(waitingAt: "b", gate))
        _ = try await runners.start()
        try await gate.arrivals()
        var without = script(2)
        without.definesRound = false
        let failure = await error { try await runners.swap(without) }
        #expect(
            failure?.message.contains("the new code of GraphRunner does not define the graph `round`, which runs")
                == true,
            "\(String(describing: failure))")
        gate.open()
        #expect(try await runners.result() == Self.whole)
        #expect(visits(runners) == ["a 1", "b 1", "c 1", "d 1"])
        // Once it has ended there is nothing to keep.
        without.edition = 3
        #expect(try await runners.swap(without).warnings == [])
        await runners.stop()
    }

    @Test(arguments: GraphRunnerHost.Kind.allCases)
    func `a graph that begins while a swap waits goes on if the swap is refused`(kind: GraphRunnerHost.Kind)
        async throws
    {
        let long = TestGate(), round = TestGate()
        var old = GraphRunnerScript(), without = script(2)
        old.visit = { name in
            if name == "single" { try await long.pass() }
            if name == "b" { try await round.pass() }
        }
        without.definesRound = false
        let runners = try await GraphRunnerHost(kind, old), new = without
        _ = try await runners.runner.single("single", runners.host.begin())
        try await long.arrivals()
        let swap = Task {
            await error {
                try await runners.swap(
                    new, drain: .upTo(.milliseconds(20), then: .retry(attempts: 1_000, within: .seconds(3_600))))
            }
        }
        _ = try await runners.journal.log.messages.first { $0 == "a swap is waiting for long calls" }
        _ = try await runners.start()
        try await round.arrivals()
        long.open()
        while !runners.isHolding { await Task.yield() }
        round.open()
        let failure = await swap.value
        #expect(
            failure?.message.contains("does not define the graph `round`, which runs") == true,
            "\(String(describing: failure))")
        #expect(try await runners.result() == Self.whole)
        #expect(visits(runners) == ["a 1", "single 1", "b 1", "c 1", "d 1"])
        await runners.stop()
    }

    @Test(arguments: GraphRunnerHost.Kind.allCases)
    func `a graph whose definition is gone can be given up`(kind: GraphRunnerHost.Kind) async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(kind, script(waitingAt: "b", gate))
        _ = try await runners.start()
        try await gate.arrivals()
        var without = script(2)
        without.definesRound = false
        let report = try await runners.swap(without, abandonsGraphs: true)
        #expect(report.warnings == ["the graph `round` of GraphRunner was abandoned"])
        #expect(runners.host.operations.all.isEmpty)
        #expect(visits(runners) == ["a 1"])
        await runners.stop()
    }

    @Test(arguments: GraphRunnerHost.Kind.allCases)
    func `a graph whose shape has changed fails with what changed`(kind: GraphRunnerHost.Kind) async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(kind, script(waitingAt: "a", gate))
        let number = try await runners.start()
        try await gate.arrivals()
        try runners.host.operations.change(.pause, number, node: nil)
        gate.open()
        var other = script(2)
        other.stops = ["a", "b", "x", "d"]
        let report = try await runners.swap(other)
        let reason =
            "`round` has changed, so this code cannot continue it: the node `c` is missing; the node `x` is new"
        #expect(report.warnings == ["the graph `round` of GraphRunner is lost: \(reason)"])
        let failure = await error { _ = try await runners.result() }
        #expect(failure?.code == .operationChanged && failure?.message == reason, "\(String(describing: failure))")
        #expect(runners.host.operations.all.isEmpty)
        // The next round is one of the new shape.
        _ = try await runners.start()
        #expect(try await runners.result() == "round a b x d")
        await runners.stop()
    }

    @Test(arguments: GraphRunnerHost.Kind.allCases)
    func `a result that does not encode fails the swap, which names the node, and the graph goes on`(
        kind: GraphRunnerHost.Kind
    ) async throws {
        let gate = TestGate()
        var first = script(waitingAt: "a", gate)
        first.spoils = true
        let runners = try await GraphRunnerHost(kind, first)
        let number = try await runners.start()
        try await gate.arrivals()
        try runners.host.operations.change(.pause, number, node: nil)
        gate.open()
        var next = script(2)
        next.spoils = true
        let failure = await error { try await runners.swap(next) }
        #expect(
            failure?.message.contains("the result of `distance` cannot be encoded") == true,
            "\(String(describing: failure))")
        try runners.host.operations.change(.resume, number, node: nil)
        #expect(try await runners.result() == Self.whole)
        #expect(visits(runners) == ["a 1", "b 1", "c 1", "d 1"])
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

    @Test(arguments: GraphRunnerHost.Kind.allCases)
    func `a rollback takes the graph back`(kind: GraphRunnerHost.Kind) async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(kind, script(waitingAt: "a", gate))
        let number = try await runners.start()
        try await gate.arrivals()
        try runners.host.operations.change(.pause, number, node: nil)
        gate.open()
        let inNew = TestGate()
        try await runners.swap(script(2, waitingAt: "c", inNew))
        try runners.host.operations.change(.resume, number, node: nil)
        try await inNew.arrivals()
        runners.journal.next(script(1))
        let options = SwapOptions(drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60))
        let rollback = Task { try await runners.host.rollback(plugin: GraphRunnerHost.plugin, options) }
        while !runners.isHolding { await Task.yield() }
        inNew.open()
        #expect(try await rollback.value.outcome == .swapped)
        #expect(try await runners.result() == Self.whole)
        let visits = visits(runners)
        #expect(visits.prefix(2) == ["a 1", "b 2"] && visits.map { String($0.prefix(1)) } == ["a", "b", "c", "d"])
        await runners.stop()
    }

    @Test(arguments: GraphRunnerHost.Kind.allCases)
    func `after a failed probation the old code goes on with what the new code has done`(kind: GraphRunnerHost.Kind)
        async throws
    {
        let gate = TestGate(), runners = try await GraphRunnerHost(kind, script(waitingAt: "a", gate))
        let number = try await runners.start()
        try await gate.arrivals()
        try runners.host.operations.change(.pause, number, node: nil)
        gate.open()
        let stops = Recording<String>()
        var sick = script(2)
        // Healthy until a node runs in the new code, after one that has ended there.
        sick.health = {
            if stops.all.contains("c") { throw GraphRunnerMistake(description: "the activation failed") }
        }
        let inNew = TestGate()
        sick.visit = { name in
            stops.add(name)
            if name == "c" { try await inNew.pass() }
        }
        let swap = Task {
            try await runners.swap(
                sick, probation: Probation(duration: .seconds(600), healthInterval: .milliseconds(1)))
        }
        while try await runners.runner.edition(Nothing(), runners.host.begin()) != 2 { await Task.yield() }
        // Those that take the state back follow this script.
        runners.journal.next(script(1))
        try runners.host.operations.change(.resume, number, node: nil)
        try await inNew.arrivals()
        // In the rollback the graph of the new instance is halted; that of the old one has left.
        while !runners.isHolding { await Task.yield() }
        inNew.open()
        #expect(try await swap.value.outcome == .rolledBack)
        #expect(try await runners.result() == Self.whole)
        let all = visits(runners)
        #expect(all.map { String($0.prefix(1)) } == ["a", "b", "c", "d"] && all.contains("b 2"), "\(all)")
        await runners.stop()
    }

    @Test func `no other graph of the name begins while one changes hands`() async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(.gated, script(waitingAt: "a", gate))
        let number = try await runners.start()
        try await gate.arrivals()
        try runners.host.operations.change(.pause, number, node: nil)
        gate.open()
        let refused = Recording<String>()
        var next = script(2)
        // The new code does not have the graph yet.
        next.starts = { round in
            do throws(BackplaneError) {
                try round.start("another")
            } catch {
                refused.add("\(error.code) \(round.run == nil)")
            }
        }
        try await runners.swap(next)
        #expect(refused.all == ["operation.refused true"])
        try runners.host.operations.change(.resume, number, node: nil)
        #expect(try await runners.result() == Self.whole)
        await runners.stop()
    }

    @Test(arguments: GraphRunnerHost.Kind.allCases)
    func `another manifest that recreates the component takes the graph along`(kind: GraphRunnerHost.Kind) async throws
    {
        let gate = TestGate(), runners = try await GraphRunnerHost(kind, script(waitingAt: "a", gate))
        let number = try await runners.start()
        try await gate.arrivals()
        try runners.host.operations.change(.pause, number, node: nil)
        gate.open()
        runners.journal.next(script(2))
        try await runners.apply(note: "second")
        #expect(try await runners.runner.edition(Nothing(), runners.host.begin()) == 2)
        try runners.host.operations.change(.resume, number, node: nil)
        #expect(try await runners.result() == Self.whole)
        #expect(visits(runners) == ["a 1", "b 2", "c 2", "d 2"])
        await runners.stop()
    }

    @Test(arguments: GraphRunnerHost.Kind.allCases)
    func `two hundred swaps under one graph do every node once`(kind: GraphRunnerHost.Kind) async throws {
        // Each stop needs a permit.
        let (permits, permit) = AsyncStream<Void>.makeStream()
        var first = GraphRunnerScript(edition: 1)
        first.stops = (0..<1_000).map { "stop \($0)" }
        first.visit = { _ in for await _ in permits { return } }
        let runners = try await GraphRunnerHost(kind, first)
        _ = try await runners.start()
        for edition in 2...201 {
            var next = first
            next.edition = edition
            let reports = Recording<SwapReport>()
            let swap = Task { reports.add(try await runners.swap(next)) }
            // The node that waits for a permit ends in the old code.
            while reports.all.isEmpty, !runners.isHolding { await Task.yield() }
            permit.yield()
            try await swap.value
            #expect(reports.all.map(\.warnings) == [[]])
            for _ in 0..<4 { permit.yield() }
        }
        #expect(try await runners.result() == "round " + first.stops.joined(separator: " "))
        let stops = visits(runners).map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
        #expect(stops == first.stops)
        await runners.stop()
    }

    @Test func `what people ask of a graph while it changes hands is done afterwards`() async throws {
        let gate = TestGate(), runners = try await GraphRunnerHost(.gated, script(waitingAt: "a", gate))
        let number = try await runners.start()
        try await gate.arrivals()
        var next = script(2)
        let host = runners.host
        // After the graph was saved, and before newer code has it.
        next.activated = { try host.operations.change(.pause, number, node: nil) }
        let swap = Task { try await runners.swap(next) }
        while !runners.isHolding { await Task.yield() }
        gate.open()
        _ = try await swap.value
        #expect(try host.operations.detail(of: number).summary.states == ["succeeded": 2, "paused": 3])
        #expect(visits(runners) == ["a 1"])
        try host.operations.change(.resume, number, node: nil)
        #expect(try await runners.result() == Self.whole)
        await runners.stop()
    }
}

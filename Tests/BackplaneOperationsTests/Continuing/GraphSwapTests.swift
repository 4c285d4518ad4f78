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
        -> CourierScript
    {
        var script = CourierScript(edition: edition)
        script.visit = { name in if name == stop { try await gate.pass() } }
        return script
    }

    private func visits(_ couriers: CourierHost) -> [String] {
        couriers.journal.visits.all.filter { !$0.contains("handled") }
    }

    private func error(_ body: () async throws -> Void) async -> BackplaneError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? BackplaneError
        }
    }

    @Test(arguments: CourierHost.Kind.allCases)
    func `the nodes that wait go on in new code, with the values of those that are done`(kind: CourierHost.Kind)
        async throws
    {
        let gate = TestGate(), couriers = try await CourierHost(kind, script(waitingAt: "b", gate))
        let number = try await couriers.start()
        try await gate.arrivals()
        let swap = Task { try await couriers.swap(script(2)) }
        while !couriers.isHolding { await Task.yield() }
        // The node that runs ends in the old code.
        gate.open()
        #expect(try await swap.value.outcome == .swapped)
        #expect(try await couriers.result() == Self.whole)
        #expect(visits(couriers) == ["a 1", "b 1", "c 2", "d 2"])
        #expect(
            couriers.journal.visits.all.filter { $0.contains("handled") } == [
                "a handled 1", "b handled 1", "c handled 2", "d handled 2",
            ])
        #expect(number != 0)
        // Whoever waits for a graph is told of its end before the host is.
        while !couriers.host.operations.all.isEmpty { await Task.yield() }
        await couriers.stop()
    }

    @Test(arguments: CourierHost.Kind.allCases)
    func `a graph keeps its number, its name and its pause`(kind: CourierHost.Kind) async throws {
        let gate = TestGate(), couriers = try await CourierHost(kind, script(waitingAt: "b", gate))
        let number = try await couriers.start()
        try await gate.arrivals()
        try couriers.host.operations.change(.pause, number, node: nil)
        gate.open()
        let report = try await couriers.swap(script(2))
        #expect(report.warnings == [])
        let graph = try couriers.host.operations.detail(of: number)
        #expect(graph.summary.name == "round" && graph.summary.isNamed)
        #expect(graph.nodes.map(\.state) == ["succeeded", "succeeded", "paused", "paused", "paused"])
        #expect(graph.nodes.map(\.name) == ["start", "a", "b", "c", "d"])
        #expect(visits(couriers) == ["a 1", "b 1"])
        try couriers.host.operations.change(.resume, number, node: nil)
        #expect(try await couriers.result() == Self.whole)
        #expect(visits(couriers) == ["a 1", "b 1", "c 2", "d 2"])
        await couriers.stop()
    }

    @Test func `the nodes of a paused queue remain paused, and the queue of newer code is not paused`() async throws {
        let gate = TestGate(), couriers = try await CourierHost(.gated, script(waitingAt: "a", gate))
        let number = try await couriers.start()
        try await gate.arrivals()
        _ = try await couriers.courier.control("pause queue", couriers.host.begin())
        gate.open()
        try await couriers.swap(script(2))
        let states = try couriers.host.operations.detail(of: number).summary.states
        // The first stop has returned, and its result is withheld.
        #expect(states == ["succeeded": 1, "paused": 4])
        _ = try await couriers.courier.errand("letter", couriers.host.begin())
        _ = try await couriers.journal.visits.first { $0 == "errand 2" }
        try couriers.host.operations.change(.resume, number, node: nil)
        #expect(try await couriers.result() == Self.whole)
        #expect(visits(couriers) == ["a 1", "errand 2", "b 2", "c 2", "d 2"])
        await couriers.stop()
    }

    @Test(arguments: CourierHost.Kind.allCases)
    func `a node that outlasts the drain fails the swap, which names its graph, and the graph goes on`(
        kind: CourierHost.Kind
    ) async throws {
        let gate = TestGate(), couriers = try await CourierHost(kind, script(waitingAt: "b", gate))
        _ = try await couriers.start()
        try await gate.arrivals()
        let failure = await error {
            try await couriers.swap(script(2), drain: .upTo(.milliseconds(20), then: .fail))
        }
        #expect(
            failure?.message.contains(
                "graphs have not ended within 0.02 seconds: a node of the graph `round` of Courier") == true,
            "\(String(describing: failure))")
        gate.open()
        #expect(try await couriers.result() == Self.whole)
        #expect(visits(couriers) == ["a 1", "b 1", "c 1", "d 1"])
        await couriers.stop()
    }

    @Test(arguments: CourierHost.Kind.allCases)
    func `a swap comes later than a node that outlasts the drain`(kind: CourierHost.Kind) async throws {
        let gate = TestGate(), couriers = try await CourierHost(kind, script(waitingAt: "b", gate))
        _ = try await couriers.start()
        try await gate.arrivals()
        let swap = Task {
            try await couriers.swap(
                script(2), drain: .upTo(.milliseconds(20), then: .retry(attempts: 1_000, within: .seconds(3_600))))
        }
        _ = try await couriers.journal.log.messages.first { $0 == "a swap is waiting for long calls" }
        // The old code answers meanwhile.
        #expect(try await couriers.courier.edition(Nothing(), couriers.host.begin()) == 1)
        while !couriers.isHolding { await Task.yield() }
        gate.open()
        #expect(try await swap.value.outcome == .swapped)
        #expect(try await couriers.result() == Self.whole)
        #expect(visits(couriers).map { String($0.prefix(1)) } == ["a", "b", "c", "d"])
        await couriers.stop()
    }

    @Test(arguments: CourierHost.Kind.allCases)
    func `a graph without a definition ends in the old code, or the swap names it`(kind: CourierHost.Kind) async throws
    {
        let gate = TestGate(), couriers = try await CourierHost(kind, script(waitingAt: "errand", gate))
        _ = try await couriers.courier.errand("letter", couriers.host.begin())
        try await gate.arrivals()
        let failure = await error {
            try await couriers.swap(script(2), drain: .upTo(.milliseconds(20), then: .fail))
        }
        #expect(
            failure?.message.contains("the graph `letter` of Courier") == true, "\(String(describing: failure))")
        let swap = Task { try await couriers.swap(script(3)) }
        gate.open()
        #expect(try await swap.value.outcome == .swapped)
        #expect(couriers.journal.visits.all == ["errand 1"])
        await couriers.stop()
    }

    @Test(arguments: CourierHost.Kind.allCases)
    func `a swap that abandons graphs cancels those that have not ended`(kind: CourierHost.Kind) async throws {
        let gate = TestGate(), couriers = try await CourierHost(kind, script(waitingAt: "errand", gate))
        _ = try await couriers.courier.errand("letter", couriers.host.begin())
        try await gate.arrivals()
        let report = try await couriers.swap(
            script(2), drain: .upTo(.milliseconds(20), then: .fail), abandonsGraphs: true)
        #expect(report.warnings == ["the graph `letter` of Courier was cancelled"])
        #expect(couriers.journal.visits.all == [])
        #expect(couriers.host.operations.all.isEmpty)
        await couriers.stop()
    }

    @Test(arguments: CourierHost.Kind.allCases)
    func `code without the definition of a graph that runs is refused`(kind: CourierHost.Kind) async throws {
        let gate = TestGate(), couriers = try await CourierHost(kind, script(waitingAt: "b", gate))
        _ = try await couriers.start()
        try await gate.arrivals()
        var without = script(2)
        without.definesRound = false
        let failure = await error { try await couriers.swap(without) }
        #expect(
            failure?.message.contains("the new code of Courier does not define the graph `round`, which runs") == true,
            "\(String(describing: failure))")
        gate.open()
        #expect(try await couriers.result() == Self.whole)
        #expect(visits(couriers) == ["a 1", "b 1", "c 1", "d 1"])
        // Once it has ended there is nothing to keep.
        without.edition = 3
        #expect(try await couriers.swap(without).warnings == [])
        await couriers.stop()
    }

    @Test(arguments: CourierHost.Kind.allCases)
    func `a graph whose definition is gone can be given up`(kind: CourierHost.Kind) async throws {
        let gate = TestGate(), couriers = try await CourierHost(kind, script(waitingAt: "b", gate))
        _ = try await couriers.start()
        try await gate.arrivals()
        var without = script(2)
        without.definesRound = false
        let report = try await couriers.swap(without, abandonsGraphs: true)
        #expect(report.warnings == ["the graph `round` of Courier was abandoned"])
        #expect(couriers.host.operations.all.isEmpty)
        #expect(visits(couriers) == ["a 1"])
        await couriers.stop()
    }

    @Test(arguments: CourierHost.Kind.allCases)
    func `a graph whose shape has changed fails with what changed`(kind: CourierHost.Kind) async throws {
        let gate = TestGate(), couriers = try await CourierHost(kind, script(waitingAt: "a", gate))
        let number = try await couriers.start()
        try await gate.arrivals()
        try couriers.host.operations.change(.pause, number, node: nil)
        gate.open()
        var other = script(2)
        other.stops = ["a", "b", "x", "d"]
        let report = try await couriers.swap(other)
        let reason =
            "`round` has changed, so this code cannot continue it: the node `c` is missing; the node `x` is new"
        #expect(report.warnings == ["the graph `round` of Courier is lost: \(reason)"])
        let failure = await error { _ = try await couriers.result() }
        #expect(failure?.code == .operationChanged && failure?.message == reason, "\(String(describing: failure))")
        #expect(couriers.host.operations.all.isEmpty)
        // The next round is one of the new shape.
        _ = try await couriers.start()
        #expect(try await couriers.result() == "round a b x d")
        await couriers.stop()
    }

    @Test(arguments: CourierHost.Kind.allCases)
    func `a result that does not encode fails the swap, which names the node, and the graph goes on`(
        kind: CourierHost.Kind
    ) async throws {
        let gate = TestGate()
        var first = script(waitingAt: "a", gate)
        first.spoils = true
        let couriers = try await CourierHost(kind, first)
        let number = try await couriers.start()
        try await gate.arrivals()
        try couriers.host.operations.change(.pause, number, node: nil)
        gate.open()
        var next = script(2)
        next.spoils = true
        let failure = await error { try await couriers.swap(next) }
        #expect(
            failure?.message.contains("the result of `distance` cannot be encoded") == true,
            "\(String(describing: failure))")
        try couriers.host.operations.change(.resume, number, node: nil)
        #expect(try await couriers.result() == Self.whole)
        #expect(visits(couriers) == ["a 1", "b 1", "c 1", "d 1"])
        await couriers.stop()
    }

    @Test(arguments: CourierHost.Kind.allCases)
    func `a swap that fails leaves the graph where it was`(kind: CourierHost.Kind) async throws {
        let gate = TestGate(), couriers = try await CourierHost(kind, script(waitingAt: "b", gate))
        _ = try await couriers.start()
        try await gate.arrivals()
        var broken = script(2)
        broken.activated = { throw CourierMistake(description: "the bicycle is broken") }
        let swap = Task { try await couriers.swap(broken) }
        gate.open()
        let failure = await error { _ = try await swap.value }
        #expect(failure?.message.contains("the bicycle is broken") == true, "\(String(describing: failure))")
        #expect(try await couriers.result() == Self.whole)
        #expect(visits(couriers) == ["a 1", "b 1", "c 1", "d 1"])
        await couriers.stop()
    }

    @Test(arguments: CourierHost.Kind.allCases)
    func `a rollback takes the graph back`(kind: CourierHost.Kind) async throws {
        let gate = TestGate(), couriers = try await CourierHost(kind, script(waitingAt: "a", gate))
        let number = try await couriers.start()
        try await gate.arrivals()
        try couriers.host.operations.change(.pause, number, node: nil)
        gate.open()
        let inNew = TestGate()
        try await couriers.swap(script(2, waitingAt: "c", inNew))
        try couriers.host.operations.change(.resume, number, node: nil)
        try await inNew.arrivals()
        couriers.journal.next(script(1))
        let rollback = Task { try await couriers.host.rollback(plugin: CourierHost.plugin) }
        while !couriers.isHolding { await Task.yield() }
        inNew.open()
        #expect(try await rollback.value.outcome == .swapped)
        #expect(try await couriers.result() == Self.whole)
        let visits = visits(couriers)
        #expect(visits.prefix(2) == ["a 1", "b 2"] && visits.map { String($0.prefix(1)) } == ["a", "b", "c", "d"])
        await couriers.stop()
    }

    @Test(arguments: CourierHost.Kind.allCases)
    func `after a failed probation the old code goes on with what the new code has done`(kind: CourierHost.Kind)
        async throws
    {
        let gate = TestGate(), couriers = try await CourierHost(kind, script(waitingAt: "a", gate))
        let number = try await couriers.start()
        try await gate.arrivals()
        try couriers.host.operations.change(.pause, number, node: nil)
        gate.open()
        let stops = Recording<String>()
        var sick = script(2)
        // Healthy until a node runs in the new code, after one that has ended there.
        sick.health = {
            if stops.all.contains("c") { throw CourierMistake(description: "the bicycle is broken") }
        }
        let inNew = TestGate()
        sick.visit = { name in
            stops.add(name)
            if name == "c" { try await inNew.pass() }
        }
        let swap = Task {
            try await couriers.swap(
                sick, probation: Probation(duration: .seconds(600), healthInterval: .milliseconds(1)))
        }
        while try await couriers.courier.edition(Nothing(), couriers.host.begin()) != 2 { await Task.yield() }
        // Those that take the state back follow this script.
        couriers.journal.next(script(1))
        try couriers.host.operations.change(.resume, number, node: nil)
        try await inNew.arrivals()
        // In the rollback the graph of the new instance is halted; that of the old one has left.
        while !couriers.isHolding { await Task.yield() }
        inNew.open()
        #expect(try await swap.value.outcome == .rolledBack)
        #expect(try await couriers.result() == Self.whole)
        let all = visits(couriers)
        #expect(all.map { String($0.prefix(1)) } == ["a", "b", "c", "d"] && all.contains("b 2"), "\(all)")
        await couriers.stop()
    }

    @Test func `no other graph of the name begins while one changes hands`() async throws {
        let gate = TestGate(), couriers = try await CourierHost(.gated, script(waitingAt: "a", gate))
        let number = try await couriers.start()
        try await gate.arrivals()
        try couriers.host.operations.change(.pause, number, node: nil)
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
        try await couriers.swap(next)
        #expect(refused.all == ["operation.refused true"])
        try couriers.host.operations.change(.resume, number, node: nil)
        #expect(try await couriers.result() == Self.whole)
        await couriers.stop()
    }

    @Test(arguments: CourierHost.Kind.allCases)
    func `another manifest that recreates the component takes the graph along`(kind: CourierHost.Kind) async throws {
        let gate = TestGate(), couriers = try await CourierHost(kind, script(waitingAt: "a", gate))
        let number = try await couriers.start()
        try await gate.arrivals()
        try couriers.host.operations.change(.pause, number, node: nil)
        gate.open()
        couriers.journal.next(script(2))
        try await couriers.apply(note: "second")
        #expect(try await couriers.courier.edition(Nothing(), couriers.host.begin()) == 2)
        try couriers.host.operations.change(.resume, number, node: nil)
        #expect(try await couriers.result() == Self.whole)
        #expect(visits(couriers) == ["a 1", "b 2", "c 2", "d 2"])
        await couriers.stop()
    }

    @Test(arguments: CourierHost.Kind.allCases)
    func `two hundred swaps under one graph do every node once`(kind: CourierHost.Kind) async throws {
        // Each stop needs a permit.
        let (permits, permit) = AsyncStream<Void>.makeStream()
        var first = CourierScript(edition: 1)
        first.stops = (0..<1_000).map { "stop \($0)" }
        first.visit = { _ in for await _ in permits { return } }
        let couriers = try await CourierHost(kind, first)
        _ = try await couriers.start()
        for edition in 2...201 {
            var next = first
            next.edition = edition
            let reports = Recording<SwapReport>()
            let swap = Task { reports.add(try await couriers.swap(next)) }
            // The node that waits for a permit ends in the old code.
            while reports.all.isEmpty, !couriers.isHolding { await Task.yield() }
            permit.yield()
            try await swap.value
            #expect(reports.all.map(\.warnings) == [[]])
            for _ in 0..<4 { permit.yield() }
        }
        #expect(try await couriers.result() == "round " + first.stops.joined(separator: " "))
        let stops = visits(couriers).map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
        #expect(stops == first.stops)
        await couriers.stop()
    }

    @Test func `what people ask of a graph while it changes hands is done afterwards`() async throws {
        let gate = TestGate(), couriers = try await CourierHost(.gated, script(waitingAt: "a", gate))
        let number = try await couriers.start()
        try await gate.arrivals()
        var next = script(2)
        let host = couriers.host
        // After the graph was saved, and before newer code has it.
        next.activated = { try host.operations.change(.pause, number, node: nil) }
        let swap = Task { try await couriers.swap(next) }
        while !couriers.isHolding { await Task.yield() }
        gate.open()
        _ = try await swap.value
        #expect(try host.operations.detail(of: number).summary.states == ["succeeded": 2, "paused": 3])
        #expect(visits(couriers) == ["a 1"])
        try host.operations.change(.resume, number, node: nil)
        #expect(try await couriers.result() == Self.whole)
        await couriers.stop()
    }
}

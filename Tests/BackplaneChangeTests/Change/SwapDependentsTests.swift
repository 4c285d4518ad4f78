import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// What a swap does to those who call what it changes, and to components that need no gate.
@Suite(.timeLimit(.minutes(5)))
struct SwapDependentsTests {
    private static let lanes: [LaneRule] = [.fastest, .encoded]

    @Test(arguments: lanes)
    func `wires, methods that are kept and wires that were looked up lead to the new code`(lanes: LaneRule) async throws
    {
        let counters = try CounterHost(
            lanes: lanes, others: ["Client": ClientPlugin.manager("Client")],
            linked: [LinkedPlugin(ClientPlugin.self)])
        let client: Remote<Clients> = try await counters.host.manager("Client"), counter = try await counters.counter(),
            add = counter.add
        #expect(try await [client.add(1), client.addKept(1), client.addFound(1), add(1)] == [1, 2, 3, 4])
        let wires = await counters.host.wires
        for edition in 2...4 {
            let report = try await counters.swap(CounterScript(edition: edition))
            #expect(report.components.map(\.component) == ["Counter"], "the client stays as it is")
            #expect(
                report.wires.map { $0.user ?? "program" } == ["Client", "program", "Client"],
                "in the order in which they were made")
            let sum = try counter.sumNow()
            #expect(
                try await [client.add(1), client.addKept(1), client.addFound(1), add(1)] == [
                    sum + 1, sum + 2, sum + 3, sum + 4,
                ])
            #expect(try client.sumNow() == sum + 4)
            #expect(try await counter.edition() == edition)
        }
        #expect(await counters.host.wires == wires)
        try await counters.expectNothingLeft(slots: ["Counter": 3])
        await counters.host.stop()
    }

    @Test func `a component that asks for it is recreated with what it calls, and so are its callers in turn`()
        async throws
    {
        let counters = try CounterHost(
            others: [
                "Client": ClientPlugin.manager("RestartingClient"),
                "IndirectClient": ClientPlugin.manager("IndirectClient", ["client": "Client"]),
                "Calm": ClientPlugin.manager("Client"),
            ], linked: [LinkedPlugin(ClientPlugin.self)])
        let indirect: Remote<Clients> = try await counters.host.manager("IndirectClient"),
            calm: Remote<Clients> = try await counters.host.manager("Calm")
        let first = try await indirect.number()
        #expect(try await (indirect.add(5), calm.add(1)) == (5, 6))
        let report = try await counters.swap(CounterScript(edition: 2))
        #expect(report.components.map(\.component) == ["Counter", "Client", "IndirectClient"])
        #expect(report.components.map(\.action) == [.replaced, .recreated, .recreated])
        #expect(report.components.map(\.manner) == [.gated, .ungated, .ungated])
        #expect(try await indirect.number() > first)
        #expect(try await indirect.add(1) == 7)
        try await counters.expectNothingLeft(slots: ["Counter": 2, "Client": 1, "IndirectClient": 1])
        await counters.host.stop()
    }

    @Test
    func `a component without state swaps without a gate, and a call that stays in the old one holds up no others`()
        async throws
    {
        let never = TestGate(),
            events = CounterEvents(
                CounterScript(serve: { text in
                    await never.passThoughCancelled()
                    return text
                }))
        let counters = try CounterHost(
            [], others: ["Worker": WorkerPlugin.manager("Worker", events)], linked: [WorkerPlugin.edition()])
        let worker: Remote<Working> = try await counters.host.manager("Worker"),
            gate = try await counters.gate("Worker")
        let call = Task { try await worker.serve("old") }
        try await never.arrivals()
        events.next(CounterScript(edition: 2, serve: { $0 + " 2" }))
        let report = try await counters.swap(linked: [WorkerPlugin.edition("2.0.0")])
        #expect(report.outcome == .changed && report.callsHeld == 0)
        #expect(report.components.map(\.manner) == [.ungated] && report.components.map(\.callsInFlight) == [1])
        #expect(!report.steps.contains { $0.step == .quiesce || $0.step == .suspend })
        #expect(try await worker.serve("new") == "new 2")
        #expect(
            events.all == ["made 1", "activate 1", "made 2", "activate 2"],
            "the old one is not suspended under the call")
        try await eventually {
            try await counters.host.generations(of: WorkerPlugin.id).map(\.heldBy) == [
                ["1 call in Worker that has not ended", "kept for a rollback"], ["active: Worker"],
            ]
        }
        #expect(gate.callsInFlight == 0, "whoever changes the new one does not wait for it")
        never.open()
        #expect(try await call.value == "old")
        try await events.until { $0.suffix(2) == ["suspend 1", "gone 1"] }
        try await counters.expectNothingLeft(slots: ["Worker": 1])
        await counters.host.stop()
    }

    @Test func `an exclusive component gives up what it has before the new one takes it, and calls wait`() async throws
    {
        let inside = TestGate(), events = CounterEvents()
        let counters = try CounterHost(
            [], others: ["Worker": WorkerPlugin.manager("ExclusiveWorker", events)], linked: [WorkerPlugin.edition()])
        let worker: Remote<Working> = try await counters.host.manager("Worker"),
            gate = try await counters.gate("Worker")
        events.next(CounterScript(edition: 2, opened: { await inside.passThoughCancelled() }))
        let swap = Task { try await counters.swap(linked: [WorkerPlugin.edition("2.0.0")]) }
        try await inside.arrivals()
        let waiting = Task { try await worker.edition() }
        await eventually { gate.callsWaiting == 1 }
        inside.open()
        #expect(try await waiting.value == 2)
        #expect(try await swap.value.components.map(\.manner) == [.gated])
        try await events.until { $0 == ["made 1", "activate 1", "made 2", "suspend 1", "activate 2", "gone 1"] }
        await counters.host.stop()
    }
}

import Backplane
import BackplaneDocuments
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

/// Several plugins in one swap, and plugins whose contracts change.
@Suite(.timeLimit(.minutes(5)))
struct SwapTogetherTests {
    /// A counter, and an exclusive worker of another plugin.
    private func host(_ events: CounterEvents) throws -> CounterHost {
        try CounterHost(
            others: ["Worker": WorkerPlugin.manager("ExclusiveWorker", events)], linked: [WorkerPlugin.edition()])
    }

    private static let both = [CounterHost.edition("2.0.0"), WorkerPlugin.edition("2.0.0")]

    private static let fails: @Sendable () async throws -> Void = {
        throw BackplaneError(.componentFailed, "not today")
    }

    @Test(arguments: [
        (ChangeStep.prepare, CounterScript(), CounterScript(edition: 2, built: fails)),
        (.suspend, CounterScript(shut: fails), CounterScript(edition: 2)),
        (.activate, CounterScript(), CounterScript(edition: 2, opened: fails)),
    ])
    func `when one fails, neither becomes active, whatever the step`(
        step: ChangeStep, old: CounterScript, new: CounterScript
    )
        async throws
    {
        let events = CounterEvents(old), counters = try host(events), counter = try await counters.counter(),
            worker: Remote<Working> = try await counters.host.manager("Worker")
        _ = try await counter.add(5)
        counters.counters["Counter"]!.next(CounterScript(edition: 2))
        events.next(new)
        let failure = await error { try await counters.swap(linked: Self.both) }
        #expect(failure?.message.contains(": \(step.rawValue): not today") == true, "\(String(describing: failure))")
        #expect(
            failure?.message.hasPrefix("\(CounterHost.plugin) 2.0.0, \(WorkerPlugin.id) 2.0.0 could not be activated")
                == true)
        #expect(try await (counter.edition(), worker.edition(), counter.add(1)) == (1, 1, 6))
        let states = try await counters.host.generations().map(\.state)
        #expect(states == [.active, .failed, .active, .failed])
        try await counters.expectNothingLeft(slots: ["Counter": 1, "Worker": 1])
        await counters.host.stop()
    }

    @Test
    func `an incompatible contract is refused before anything changes, and all users of the old one are named`()
        async throws
    {
        let counters = try CounterHost(
            others: ["Client": ClientPlugin.manager("Client")], linked: [LinkedPlugin(ClientPlugin.self)])
        let counter = try await counters.counter(), client: Remote<Clients> = try await counters.host.manager("Client"),
            events = counters.counters["Counter"]!.all
        _ = try await counter.add(5)
        let refusal = await error { try await counters.swap(linked: [OtherCounters.strange]) }
        #expect(refusal?.code == .swapRefused)
        let reasons = refusal?.causes.map(\.message) ?? []
        #expect(
            reasons.contains {
                $0.hasPrefix("the host program calls Counter through `Counting` 1.0.0, but the new `StatefulCounter`")
            }, "\(reasons)")
        #expect(refusal?.detailedDescription.contains("Client") == true, "\(String(describing: refusal))")
        #expect(counters.counters["Counter"]!.all == events, "nothing was made, nothing suspended")
        #expect(try await (counter.add(1), client.add(1), counter.edition()) == (6, 7, 1))
        await counters.host.stop()
    }
}

/// What an old instance waits for before it is given up.
@Suite(.timeLimit(.minutes(5)))
struct SwapReleaseTests {
    private func generations(_ counters: CounterHost) async throws -> [[String]] {
        try await counters.host.generations(of: WorkerPlugin.id).map {
            $0.heldBy.filter { $0 != "kept for a rollback" }
        }
    }

    @Test func `a call whose caller is gone keeps the instance it is in, and no later one`() async throws {
        let never = TestGate(),
            events = CounterEvents(
                CounterScript(serve: { text in
                    await never.passThoughCancelled()
                    return text
                }))
        let counters = try CounterHost(
            [],
            others: [
                "Worker": WorkerPlugin.manager("Worker", events),
                "BackgroundCaller": BackgroundCallerPlugin.manager("Worker"),
            ],
            linked: [WorkerPlugin.edition(), BackgroundCallerPlugin.edition()])
        let caller: Remote<BackgroundCalls> = try await counters.host.manager("BackgroundCaller")
        // A call of its own, that goes on when whoever made it has been swapped and is gone.
        _ = try await caller.begin("stay")
        try await never.arrivals()
        try await counters.swap(linked: [BackgroundCallerPlugin.edition("2.0.0")])
        try await counters.expectNothingLeft(slots: ["Worker": 1], inFlight: ["Worker": 1])

        events.next(CounterScript(edition: 2))
        try await counters.swap(linked: [WorkerPlugin.edition("2.0.0")])
        try await eventually {
            try await generations(counters) == [["1 call in Worker that has not ended"], ["active: Worker"]]
        }
        #expect(!events.all.contains("suspend 1"))
        events.next(CounterScript(edition: 3))
        try await counters.swap(linked: [WorkerPlugin.edition("3.0.0")])
        try await events.until { $0.contains("gone 2") }
        #expect(!events.all.contains("suspend 1"), "the call is still in it")
        #expect(try await counters.gate("Worker").callsInFlight == 0, "and none of those that changes wait for")
        let inFlight = await counters.host.statistics.first { $0.component == "Worker" }?.inFlight
        #expect(inFlight == 1, "but whoever looks sees it")
        never.open()
        try await events.until { $0.suffix(2) == ["suspend 1", "gone 1"] }
        #expect(await counters.host.statistics.first { $0.component == "Worker" }?.calls == 1)
        try await counters.expectNothingLeft(slots: ["Worker": 1])
        await counters.host.stop()
    }
}

/// A plugin whose manager begins calls that nobody waits for.
enum BackgroundCallerPlugin {
    static func edition(_ version: Version = "1.0.0") -> LinkedPlugin {
        LinkedPlugin(id: "org.backplane.tests.background", version: version) { $0.add(BackgroundCaller.self) }
    }

    static func manager(_ worker: String) -> ManifestValue {
        ["className": "BackgroundCaller", "uses": ["worker": .string(worker)]]
    }
}

struct BackgroundCalls: Contract {
    static let version: Version = "1.0.0"
    /// Has the worker serve, and does not wait for it.
    let begin = AsyncMethod<String, Nothing>()
}

final class BackgroundCaller: Manager {
    typealias Provides = BackgroundCalls
    struct Wires: Wiring {
        let worker: Wire<Working>
    }
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.begin) { caller, text, _ in
            caller.context.tasks.run { [context = caller.context] in
                _ = try? await context.wires.worker.serve(text, context.begin())
            }
            return Nothing()
        }
    }
}

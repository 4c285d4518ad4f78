import Backplane
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Calls that go through what is being swapped and come back to it: they have to get in, or the swap would wait for
/// itself.
@Suite(.timeLimit(.minutes(5)))
struct SwapPathTests {
    private static let lanes: [LaneRule] = [.fastest, .encoded]

    /// Ends at once when it is asked to, and otherwise goes on to `next` once it is let.
    private static func act(_ inside: TestGate, to next: String)
        -> @Sendable (StatefulCounter, String, Call) async throws -> String
    {
        { counter, text, call in
            if text == "end" { return "\(counter.script.edition)" }
            await inside.passThoughCancelled()
            let next: Wire<Counting> = try await counter.context.manager(next, for: call)
            return try await next.act("end", call) + " through \(counter.script.edition)"
        }
    }

    private static func script(_ body: @escaping Script.Act) -> ManifestValue {
        ScriptedPlugin.Part(script: Script(act: body)).value
    }

    /// Hands a call on to a counter.
    private static func passing(to counter: String)
        -> @Sendable (ScriptedManager.Context, String, Call) async throws -> String
    {
        { context, text, call in
            let counter: Wire<Counting> = try await context.manager(counter, for: call)
            return try await counter.act(text, call)
        }
    }

    @Test(arguments: lanes)
    func `A calls B, which calls A, while A is swapped`(lanes: LaneRule) async throws {
        let inside = TestGate()
        let act: @Sendable (StatefulCounter, String, Call) async throws -> String = { counter, text, call in
            if text == "end" { return "\(counter.script.edition)" }
            await inside.passThoughCancelled()
            let b: Wire<Scripted> = try await counter.context.manager("B", for: call)
            return try await b.act("end", call) + " through \(counter.script.edition)"
        }
        let counters = try CounterHost(
            ["A"], lanes: lanes, script: CounterScript(act: act), others: ["B": Self.script(Self.passing(to: "A"))],
            linked: [LinkedPlugin(ScriptedPlugin.self)])
        let a = try await counters.counter("A"), gate = try await counters.host.gate(of: "A")
        let calls = (0..<3).map { _ in Task { try await a.act("go") } }
        try await inside.arrivals(3)
        let swap = Task { try await counters.swap(CounterScript(edition: 2, act: act)) }
        await eventually { gate.isHeld }
        let stranger = Task { try await a.act("end") }
        await eventually { gate.callsWaiting == 1 }
        inside.open()
        for call in calls { #expect(try await call.value == "1 through 1", "to the end on the code it began on") }
        #expect(try await swap.value.outcome == .changed)
        #expect(try await stranger.value == "2")
        #expect(try await a.act("go") == "2 through 2")
        try await counters.expectNothingLeft(slots: ["A": 2])
        await counters.host.stop()
    }

    @Test(arguments: lanes)
    func `A calls B, which calls A, while both are swapped`(lanes: LaneRule) async throws {
        let inside = TestGate(),
            both: @Sendable (StatefulCounter, String, Call) async throws -> String = { counter, text, call in
                switch text {
                case "end": return "\(counter.script.edition)"
                case "back":
                    let a: Wire<Counting> = try await counter.context.manager("A", for: call)
                    return try await a.act("end", call) + " through \(counter.script.edition)"
                default:
                    await inside.passThoughCancelled()
                    let b: Wire<Counting> = try await counter.context.manager("B", for: call)
                    return try await b.act("back", call) + " through \(counter.script.edition)"
                }
            }
        let counters = try CounterHost(["A", "B"], lanes: lanes, script: CounterScript(act: both))
        let a = try await counters.counter("A"), b = try await counters.counter("B"),
            gates = (try await counters.gate("A"), try await counters.gate("B"))
        _ = try await b.edition()
        let call = Task { try await a.act("go") }
        try await inside.arrivals()
        let swap = Task { try await counters.swap(CounterScript(edition: 2, act: both)) }
        await eventually { gates.0.isHeld && gates.1.isHeld }
        let strangers = (Task { try await a.act("end") }, Task { try await b.act("back") })
        await eventually { gates.0.callsWaiting == 1 && gates.1.callsWaiting == 1 }
        inside.open()
        #expect(try await call.value == "1 through 1 through 1")
        #expect(try await swap.value.outcome == .changed)
        #expect(try await strangers.0.value == "2")
        #expect(try await strangers.1.value == "2 through 2")
        await counters.host.stop()
    }

    @Test(arguments: lanes)
    func `a call comes back through a plugin in C`(lanes: LaneRule) async throws {
        let inside = TestGate(), act = Self.act(inside, to: "Relay")
        let counters = try CounterHost(
            lanes: lanes, script: CounterScript(act: act), others: ["Relay": RelayPlugin.manager()],
            libraries: ["Relay"],
            in: RelayPlugin.folder())
        let counter = try await counters.counter(), relay: Remote<Counting> = try await counters.host.manager("Relay"),
            gate = try await counters.gate("Counter")
        let calls = [Task { try await counter.act("go") }, Task { try await relay.act("go") }]
        try await inside.arrivals(2)
        let swap = Task { try await counters.swap(CounterScript(edition: 2, act: act)) }
        await eventually { gate.isHeld }
        let stranger = Task { try await relay.act("end") }
        await eventually { gate.callsWaiting == 1 }
        inside.open()
        for call in calls { #expect(try await call.value == "1 through 1") }
        #expect(try await swap.value.outcome == .changed)
        #expect(try await stranger.value == "2")
        #expect(try await relay.act("go") == "2 through 2")
        await counters.host.stop()
    }

    @Test func `a new instance calls another new one while it is activated, before the gates open`() async throws {
        let counters = try CounterHost(["A", "B"], wires: ["B": "A"]), b = try await counters.counter("B"),
            a = try await counters.counter("A")
        _ = try await a.add(3)
        let seen = Once()
        let report = try await counters.swap(
            CounterScript(
                edition: 2,
                activated: { context in
                    guard let next = context.wires.next else { return }
                    let answers = (try await next.edition(context.begin()), try await next.add(10, context.begin()))
                    #expect(answers == (2, 13), "the new one, with the state that it took over")
                    _ = seen.isFirst
                }))
        #expect(report.outcome == .changed && !seen.isFirst)
        #expect(try await a.add(1) == 14)
        #expect(try await b.edition() == 2)
        await counters.host.stop()
    }

    @Test func `a call of a new instance that never ends keeps its provider alive when the swap fails`()
        async throws
    {
        let never = TestGate(), counters = try CounterHost(["A", "B"], wires: ["B": "A"]),
            a = try await counters.counter("A"),
            events = counters.counters["A"]!
        _ = try await (a.add(3), counters.counter("B"))
        let act: @Sendable (StatefulCounter, String, Call) async throws -> String = { counter, text, _ in
            await never.passThoughCancelled()
            return "\(counter.script.edition) \(counter.sum.withLock { $0 })"
        }
        let answers = Answers()
        let script = CounterScript(
            edition: 2,
            activated: { context in
                guard let next = context.wires.next else { return }
                await answers.note(try await next.act("", context.begin()))
            }, act: act)
        let failure = await error {
            try await counters.test.expiring(.seconds(10), once: { try await never.arrivals() }) {
                try await counters.swap(
                    script, ChangeOptions(drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(10)))
            }
        }
        #expect(failure?.message.contains("activate: B took longer than 10.0 seconds to be activated") == true)
        #expect(try await a.add(1) == 4)
        #expect(!events.all.contains("gone 2"), "a call is in it")
        never.open()
        await eventually { await answers.all == ["2 3"] }
        try await events.until { $0.contains("gone 2") }
        try await counters.expectNothingLeft(slots: ["A": 2, "B": 1])
        await counters.host.stop()
    }
}

/// What was answered.
actor Answers {
    private(set) var all: [String] = []
    func note(_ answer: String) { all.append(answer) }
}

extension CounterHost {
    func gate(_ name: String) async throws(BackplaneError) -> BackplaneHost.Gate { try await host.gate(of: name) }
}

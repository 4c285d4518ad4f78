import Backplane
import Synchronization
import Testing

@testable import BackplaneHost

/// Calls that go through what is being swapped and come back to it: they have to get in, or the swap would wait for
/// itself.
@Suite(.timeLimit(.minutes(5)))
struct SwapPathTests {
    private static let lanes: [LaneRule] = [.fastest, .encoded]

    /// Ends at once when it is asked to, and otherwise goes on to `next` once it is let.
    private static func act(_ inside: Turnstile, to next: String)
        -> @Sendable (TillManager, String, Call) async throws -> String
    {
        { till, text, call in
            if text == "end" { return "\(till.script.edition)" }
            await inside.pass()
            let next: Wire<Tills> = try await till.context.manager(next, for: call)
            return try await next.act("end", call) + " through \(till.script.edition)"
        }
    }

    private static func script(_ body: @escaping Script.Act) -> ManifestValue {
        ScriptedPlugin.Part(script: Script(act: body)).value
    }

    /// Hands a call on to a till.
    private static func passing(to till: String)
        -> @Sendable (ScriptedManager.Context, String, Call) async throws -> String
    {
        { context, text, call in
            let till: Wire<Tills> = try await context.manager(till, for: call)
            return try await till.act(text, call)
        }
    }

    @Test(arguments: lanes)
    func `A calls B, which calls A, while A is swapped`(lanes: LaneRule) async throws {
        let inside = Turnstile()
        let act: @Sendable (TillManager, String, Call) async throws -> String = { till, text, call in
            if text == "end" { return "\(till.script.edition)" }
            await inside.pass()
            let b: Wire<Scripted> = try await till.context.manager("B", for: call)
            return try await b.act("end", call) + " through \(till.script.edition)"
        }
        let tills = try TillHost(
            ["A"], lanes: lanes, script: TillScript(act: act), others: ["B": Self.script(Self.passing(to: "A"))],
            linked: [LinkedPlugin(ScriptedPlugin.self)])
        let a = try await tills.till("A"), gate = try await tills.host.gate(of: "A")
        let calls = (0..<3).map { _ in Task { try await a.act("go") } }
        await eventually { inside.arrived == 3 }
        let swap = Task { try await tills.swap(TillScript(edition: 2, act: act)) }
        await eventually { gate.isHeld }
        let stranger = Task { try await a.act("end") }
        await eventually { gate.callsWaiting == 1 }
        inside.open()
        for call in calls { #expect(try await call.value == "1 through 1", "to the end on the code it began on") }
        #expect(try await swap.value.outcome == .swapped)
        #expect(try await stranger.value == "2")
        #expect(try await a.act("go") == "2 through 2")
        try await tills.expectNothingLeft(slots: ["A": 2])
        await tills.host.stop()
    }

    @Test(arguments: lanes)
    func `A calls B, which calls A, while B is swapped`(lanes: LaneRule) async throws {
        let inside = Turnstile()
        let act: @Sendable (TillManager, String, Call) async throws -> String = { till, text, call in
            await inside.pass()
            let a: Wire<Scripted> = try await till.context.manager("A", for: call)
            return try await a.act("end", call) + " through \(till.script.edition)"
        }
        let a = Self.script { context, text, call in
            text == "end" ? "end" : try await Self.passing(to: "B")(context, text, call)
        }
        let tills = try TillHost(
            ["B"], lanes: lanes, script: TillScript(act: act), others: ["A": a],
            linked: [LinkedPlugin(ScriptedPlugin.self)])
        let remote: Remote<Scripted> = try await tills.host.manager("A"), gate = try await tills.gate("B")
        let call = Task { try await remote.act("go") }
        await eventually { inside.arrived == 1 }
        let swap = Task { try await tills.swap(TillScript(edition: 2, act: act)) }
        await eventually { gate.isHeld }
        let late = Task { try await remote.act("go") }
        await eventually { gate.callsWaiting == 1 }
        inside.open()
        #expect(try await call.value == "end through 1")
        #expect(try await swap.value.outcome == .swapped)
        #expect(try await late.value == "end through 2")
        await tills.host.stop()
    }

    @Test(arguments: lanes)
    func `A calls B, which calls A, while both are swapped`(lanes: LaneRule) async throws {
        let inside = Turnstile(),
            both: @Sendable (TillManager, String, Call) async throws -> String = { till, text, call in
                switch text {
                case "end": return "\(till.script.edition)"
                case "back":
                    let a: Wire<Tills> = try await till.context.manager("A", for: call)
                    return try await a.act("end", call) + " through \(till.script.edition)"
                default:
                    await inside.pass()
                    let b: Wire<Tills> = try await till.context.manager("B", for: call)
                    return try await b.act("back", call) + " through \(till.script.edition)"
                }
            }
        let tills = try TillHost(["A", "B"], lanes: lanes, script: TillScript(act: both))
        let a = try await tills.till("A"), b = try await tills.till("B"),
            gates = (try await tills.gate("A"), try await tills.gate("B"))
        _ = try await b.edition()
        let call = Task { try await a.act("go") }
        await eventually { inside.arrived == 1 }
        let swap = Task { try await tills.swap(TillScript(edition: 2, act: both)) }
        await eventually { gates.0.isHeld && gates.1.isHeld }
        let strangers = (Task { try await a.act("end") }, Task { try await b.act("back") })
        await eventually { gates.0.callsWaiting == 1 && gates.1.callsWaiting == 1 }
        inside.open()
        #expect(try await call.value == "1 through 1 through 1")
        #expect(try await swap.value.outcome == .swapped)
        #expect(try await strangers.0.value == "2")
        #expect(try await strangers.1.value == "2 through 2")
        await tills.host.stop()
    }

    @Test(arguments: lanes)
    func `a call comes back through a plugin in C`(lanes: LaneRule) async throws {
        let inside = Turnstile(), act = Self.act(inside, to: "Relay")
        let tills = try TillHost(
            lanes: lanes, script: TillScript(act: act), others: ["Relay": RelayPlugin.manager()], libraries: ["Relay"],
            in: RelayPlugin.folder())
        let till = try await tills.till(), relay: Remote<Tills> = try await tills.host.manager("Relay"),
            gate = try await tills.gate("Till")
        let calls = [Task { try await till.act("go") }, Task { try await relay.act("go") }]
        await eventually { inside.arrived == 2 }
        let swap = Task { try await tills.swap(TillScript(edition: 2, act: act)) }
        await eventually { gate.isHeld }
        let stranger = Task { try await relay.act("end") }
        await eventually { gate.callsWaiting == 1 }
        inside.open()
        for call in calls { #expect(try await call.value == "1 through 1") }
        #expect(try await swap.value.outcome == .swapped)
        #expect(try await stranger.value == "2")
        #expect(try await relay.act("go") == "2 through 2")
        await tills.host.stop()
    }

    @Test func `a new instance calls another new one while it is activated, before the gates open`() async throws {
        let tills = try TillHost(["A", "B"], wires: ["B": "A"]), b = try await tills.till("B"),
            a = try await tills.till("A")
        _ = try await a.add(3)
        let seen = Once()
        let report = try await tills.swap(
            TillScript(
                edition: 2,
                activated: { context in
                    guard let next = context.wires.next else { return }
                    let answers = (try await next.edition(context.begin()), try await next.add(10, context.begin()))
                    #expect(answers == (2, 13), "the new one, with the state that it took over")
                    _ = seen.isFirst
                }))
        #expect(report.outcome == .swapped && !seen.isFirst)
        #expect(try await a.add(1) == 14)
        #expect(try await b.edition() == 2)
        await tills.host.stop()
    }

    @Test func `a call of a new instance that never ends keeps what it calls alive when the swap is given up`()
        async throws
    {
        let never = Turnstile(), tills = try TillHost(["A", "B"], wires: ["B": "A"]), a = try await tills.till("A"),
            events = tills.tills["A"]!
        _ = try await (a.add(3), tills.till("B"))
        let act: @Sendable (TillManager, String, Call) async throws -> String = { till, text, _ in
            await never.pass()
            return "\(till.script.edition) \(till.sum.withLock { $0 })"
        }
        let answers = Answers()
        let failure = await error {
            try await tills.swap(
                TillScript(
                    edition: 2,
                    activated: { context in
                        guard let next = context.wires.next else { return }
                        await answers.note(try await next.act("", context.begin()))
                    }, act: act), SwapOptions(drainLimit: .seconds(60), stepLimit: .seconds(0.1)))
        }
        #expect(failure?.message.contains("activate: B took longer than 0.1 seconds to be activated") == true)
        #expect(try await a.add(1) == 4)
        #expect(!events.all.contains("gone 2"), "a call is in it")
        never.open()
        await eventually { await answers.all == ["2 3"] }
        await eventually { events.all.contains("gone 2") }
        try await tills.expectNothingLeft(slots: ["A": 2, "B": 1])
        await tills.host.stop()
    }
}

/// What was answered.
actor Answers {
    private(set) var all: [String] = []
    func note(_ answer: String) { all.append(answer) }
}

extension TillHost {
    func gate(_ name: String) async throws(BackplaneError) -> BackplaneHost.Gate { try await host.gate(of: name) }
}

import Backplane
import Dispatch
import Synchronization
import Testing

@testable import BackplaneHost

/// Calls that meet a swap.
@Suite(.timeLimit(.minutes(5)))
struct SwapCallersTests {
    private static let lanes: [LaneRule] = [.fastest, .encoded]

    @Test(arguments: lanes)
    func `calls under way end on the code they began on, those that come wait for the new`(lanes: LaneRule) async throws
    {
        let inside = Turnstile()
        let act: @Sendable (TillManager, String, Call) async throws -> String = { till, text, _ in
            if text == "long" { await inside.pass() }
            return "\(till.script.edition)"
        }
        let tills = try TillHost(lanes: lanes, script: TillScript(act: act)), till = try await tills.till(),
            gate = try await tills.host.gate(of: "Till")
        let long = (0..<3).map { _ in Task { try await till.act("long") } }
        await eventually { inside.arrived == 3 }
        let swap = Task { try await tills.swap(TillScript(edition: 2, act: act)) }
        await eventually { gate.isHeld }
        let late = (0..<20).map { _ in Task { try await till.act("") } },
            named = Task { try await tills.test.call("Till", "act", #""""#) }
        await eventually { gate.callsWaiting == 21 }
        #expect(try till.editionNow() == 1, "one that cannot wait gets the old one")
        inside.open()
        for call in long { #expect(try await call.value == "1") }
        for call in late { #expect(try await call.value == "2") }
        #expect(try await named.value == #""2""#)
        let report = try await swap.value
        #expect(report.callsHeld == 21 && report.longestWait > .zero)
        #expect(report.components.map(\.callsInFlight) == [3])
        try await tills.expectNothingLeft(slots: ["Till": 2])
        await tills.host.stop()
    }

    @Test(arguments: lanes)
    func `calls that wait end at their deadlines, and when they are cancelled`(lanes: LaneRule) async throws {
        let inside = Turnstile(),
            tills = try TillHost(lanes: lanes, script: TillScript(suspended: { _ in await inside.pass() }))
        let till = try await tills.till(), gate = try await tills.host.gate(of: "Till")
        let swap = Task { try await tills.swap(TillScript(edition: 2)) }
        await eventually { inside.arrived == 1 }
        #expect(
            await error { try await till.add(1, tills.host.begin(within: .milliseconds(20))) }?.code == .callDeadline)
        #expect(
            await error { try await tills.test.call("Till", "add", "1", within: .milliseconds(20)) }?.code
                == .callDeadline)
        let given = Task { try await till.add(1) }, patient = Task { try await till.add(10) }
        await eventually { gate.callsWaiting == 2 }
        given.cancel()
        #expect(await error { try await given.value }?.code == .callCancelled)
        inside.open()
        #expect(try await swap.value.outcome == .swapped)
        #expect(try await patient.value == 10, "those that were given up added nothing")
        await tills.host.stop()
    }

    @Test func `who has nothing to do with it is not held up: calls, look-ups, and what starts meanwhile`() async throws
    {
        let inside = Turnstile(),
            act: @Sendable (TillManager, String, Call) async throws -> String = { _, text, _ in
                await inside.pass()
                return text
            }
        let tills = try TillHost(
            script: TillScript(act: act),
            others: [
                "Other": ScriptedPlugin.Part().value, "Lazy": ScriptedPlugin.Part(left: "Other", isLazy: true).value,
            ],
            linked: [LinkedPlugin(ScriptedPlugin.self)])
        let till = try await tills.till(), gate = try await tills.host.gate(of: "Till"),
            other: Remote<Scripted> = try await tills.host.manager("Other")
        let long = Task { try await till.act("long") }
        await eventually { inside.arrived == 1 }
        let swap = Task { try await tills.swap(TillScript(edition: 2)) }
        await eventually { gate.isHeld }
        for _ in 0..<100 { #expect(try await other.act("there") == "there") }
        let again: Remote<Scripted> = try await tills.host.manager("Other"),
            lazy: Remote<Scripted> = try await tills.host.manager("Lazy")
        #expect(try await again.act("again") == "again" && lazy.actNow("") == "0")
        #expect(
            try await tills.host.manager("Till", as: Tills.self).editionNow() == 1,
            "what is swapped can be looked up too")
        #expect(await tills.host.managers.count == 3)
        inside.open()
        _ = try await (swap.value, long.value)
        await tills.host.stop()
    }

    @Test(arguments: lanes)
    func `a synchronous call meets the old instance, which nobody waits for and which outlives it`(lanes: LaneRule)
        async throws
    {
        let suspending = Turnstile(), inside = DispatchSemaphore(value: 0), arrived = Mutex(false)
        let script = TillScript(
            suspended: { _ in await suspending.pass() },
            actNow: { till, _ in
                arrived.withLock { $0 = true }
                inside.wait()
                return "\(till.script.edition) \(till.sum.withLock { $0 })"
            })
        let tills = try TillHost(lanes: lanes, script: script), till = try await tills.till(),
            events = tills.tills["Till"]!, gate = try await tills.host.gate(of: "Till")
        _ = try await till.add(5)
        let swap = Task { try await tills.swap(TillScript(edition: 2)) }
        await eventually { suspending.arrived == 1 }
        let answer = Mutex<String?>(nil)
        HostThread.launch {
            let text = try? till.actNow("")
            answer.withLock { $0 = text ?? "failed" }
        }
        await eventually { arrived.withLock { $0 } && gate.callsAside == 1 }
        suspending.open()
        #expect(try await swap.value.outcome == .swapped, "it does not wait")
        #expect(try await till.add(1) == 6)
        #expect(try till.editionNow() == 2, "once the gate is open synchronous calls go to the new one")
        try await eventually {
            try await tills.host.generations().first?.heldBy.first == "1 call in Till that has not ended"
        }
        #expect(!events.all.contains("gone 1"))
        inside.signal()
        await eventually { answer.withLock { $0 } != nil }
        #expect(answer.withLock { $0 } == "1 5")
        await eventually { events.all.contains("gone 1") }
        try await tills.expectNothingLeft(slots: ["Till": 1])
        await tills.host.stop()
    }

    @Test(arguments: lanes)
    func `a call that never ends keeps the swap until its deadline, which names it, and calls go on`(lanes: LaneRule)
        async throws
    {
        let never = Turnstile()
        let act: @Sendable (TillManager, String, Call) async throws -> String = { _, text, _ in
            await never.pass()
            return text
        }
        let tills = try TillHost(
            lanes: lanes, script: TillScript(act: act), others: ["Cashier": CashierPlugin.manager("Cashier")],
            linked: [LinkedPlugin(CashierPlugin.self)])
        let till = try await tills.till(), cashier: Remote<Cashiers> = try await tills.host.manager("Cashier"),
            gate = try await tills.host.gate(of: "Till")
        let own = (0..<2).map { _ in Task { try await till.act("own") } }, its = Task { try await cashier.act("its") }
        let named = Task { try await tills.test.call("Till", "act", #""named""#) }
        await eventually { never.arrived == 4 }
        let swap = Task { try await tills.swap(TillScript(edition: 2), SwapOptions(drainLimit: .seconds(0.2))) }
        await eventually { gate.isHeld }
        let waiting = Task { try await till.add(1) }
        let failure = await error { try await swap.value }
        #expect(failure?.code == .swapFailed && failure?.causes.map(\.code) == [.callDeadline])
        for caller in [
            "2 calls of the host program to Till", "1 call of Cashier by its wire `till` to Till",
            "1 call by name to Till",
        ] {
            #expect(failure?.message.contains(caller) == true, "\(String(describing: failure))")
        }
        // By name means encoded in either lane, so the method is known.
        #expect(
            failure?.message.contains("(in `act` of Till); the old code keeps running") == true,
            "\(String(describing: failure))")
        #expect(failure?.message.contains("quiesce: calls have not ended within 0.2 seconds: ") == true)
        #expect(try await waiting.value == 1, "who waited goes on, with the old code")
        #expect(try await till.edition() == 1)
        #expect(tills.tills["Till"]!.all == ["made 1", "activate 1", "made 2", "gone 2"], "it was not even suspended")
        never.open()
        for call in own { #expect(try await call.value == "own") }
        #expect(try await its.value == "its")
        #expect(try await named.value == #""named""#)
        try await tills.swap(TillScript(edition: 3))
        #expect(try await till.add(1) == 2)
        await tills.host.stop()
    }

    @Test
    func `four callers in both lanes and one in C meet two hundred swaps, and not one call is lost or comes twice`()
        async throws
    {
        for lanes in Self.lanes {
            let tills = try TillHost(
                ["Till", "Second", "Third", "Fourth"], lanes: lanes,
                others: [
                    "Cashier": CashierPlugin.manager("Cashier", ["till": "Second"]),
                    "Relay": RelayPlugin.manager(to: "Third"),
                ],
                linked: [LinkedPlugin(CashierPlugin.self)], libraries: ["Relay"], in: RelayPlugin.folder())
            let (till, fourth) = (try await tills.till(), try await tills.till("Fourth")),
                cashier: Remote<Cashiers> = try await tills.host.manager("Cashier")
            let relay: Remote<Tills> = try await tills.host.manager("Relay"), callers = Callers()
            callers.begin { try await till.add(1) }
            callers.begin { try await cashier.add(1) }
            callers.begin { try await relay.add(1) }
            callers.begin { Int(try await tills.test.call("Fourth", "add", "1")) ?? -1 }
            for number in 2...201 {
                let before = callers.answers
                #expect(try await tills.swap(TillScript(edition: number)).outcome == .swapped)
                #expect(try fourth.editionNow() == number)
                if number % 20 == 0 { await eventually { callers.answers > before } }
            }
            #expect(await callers.end() == [])
            let (second, third) = (try await tills.till("Second"), try await tills.till("Third"))
            let sums = try [till, second, third, fourth].map { try $0.sumNow() }
            #expect(sums == callers.last)
            #expect(try await till.edition() == 201)
            await eventually { tills.tills["Till"]!.left == [201: 1] }
            #expect(await tills.host.coordinator.numbersInUse == 6)
            await tills.host.stop()
        }
    }
}

extension BackplaneHost.Gate {
    /// Do calls that come wait?
    var isHeld: Bool { state.withLock { if case .held = $0.phase { true } else { false } } }
}

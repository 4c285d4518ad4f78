import Backplane
import Testing

@testable import BackplaneHost

/// What a swap does to those who call what it changes, and to components that need no gate.
@Suite(.timeLimit(.minutes(5)))
struct SwapDependentsTests {
    private static let lanes: [LaneRule] = [.fastest, .encoded]

    @Test(arguments: lanes)
    func `wires, methods that are kept and wires that were looked up lead to the new code`(lanes: LaneRule) async throws
    {
        let tills = try TillHost(
            lanes: lanes, others: ["Cashier": CashierPlugin.manager("Cashier")],
            linked: [LinkedPlugin(CashierPlugin.self)])
        let cashier: Remote<Cashiers> = try await tills.host.manager("Cashier"), till = try await tills.till(),
            add = till.add
        #expect(try await [cashier.add(1), cashier.addKept(1), cashier.addFound(1), add(1)] == [1, 2, 3, 4])
        let wires = await tills.host.wires
        for edition in 2...4 {
            let report = try await tills.swap(TillScript(edition: edition))
            #expect(report.components.map(\.component) == ["Till"], "the cashier stays as it is")
            #expect(
                report.wires.map { $0.user ?? "program" } == ["Cashier", "program", "Cashier"],
                "in the order in which they were made")
            let sum = try till.sumNow()
            #expect(
                try await [cashier.add(1), cashier.addKept(1), cashier.addFound(1), add(1)] == [
                    sum + 1, sum + 2, sum + 3, sum + 4,
                ])
            #expect(try cashier.sumNow() == sum + 4)
            #expect(try await till.edition() == edition)
        }
        #expect(await tills.host.wires == wires)
        try await tills.expectNothingLeft(slots: ["Till": 3])
        await tills.host.stop()
    }

    @Test func `who asks for it is made anew with what it calls, and who calls that in turn`() async throws {
        let tills = try TillHost(
            others: [
                "Cashier": CashierPlugin.manager("RestartingCashier"),
                "Inspector": CashierPlugin.manager("Inspector", ["cashier": "Cashier"]),
                "Calm": CashierPlugin.manager("Cashier"),
            ], linked: [LinkedPlugin(CashierPlugin.self)])
        let inspector: Remote<Cashiers> = try await tills.host.manager("Inspector"),
            calm: Remote<Cashiers> = try await tills.host.manager("Calm")
        let first = try await inspector.number()
        #expect(try await (inspector.add(5), calm.add(1)) == (5, 6))
        let report = try await tills.swap(TillScript(edition: 2))
        #expect(report.components.map(\.component) == ["Till", "Cashier", "Inspector"])
        #expect(report.components.map(\.isRestart) == [false, true, true])
        #expect(report.components.map(\.manner) == [.gated, .ungated, .ungated])
        #expect(try await inspector.number() > first)
        #expect(try await inspector.add(1) == 7)
        try await tills.expectNothingLeft(slots: ["Till": 2, "Cashier": 1, "Inspector": 1])
        await tills.host.stop()
    }

    @Test func `a component without state swaps without a gate, and a call that stays in the old one keeps nobody`()
        async throws
    {
        let never = Turnstile(),
            events = TillEvents(
                TillScript(serve: { text in
                    await never.pass()
                    return text
                }))
        let tills = try TillHost(
            [], others: ["Kiosk": KioskPlugin.manager("Kiosk", events)], linked: [KioskPlugin.edition()])
        let kiosk: Remote<Kiosks> = try await tills.host.manager("Kiosk"), gate = try await tills.gate("Kiosk")
        let call = Task { try await kiosk.serve("old") }
        await eventually { never.arrived == 1 }
        events.next(TillScript(edition: 2, serve: { $0 + " 2" }))
        let report = try await tills.swap(linked: [KioskPlugin.edition("2.0.0")])
        #expect(report.outcome == .swapped && report.callsHeld == 0)
        #expect(report.components.map(\.manner) == [.ungated] && report.components.map(\.callsInFlight) == [1])
        #expect(!report.steps.contains { $0.step == .quiesce || $0.step == .suspend })
        #expect(try await kiosk.serve("new") == "new 2")
        #expect(
            events.all == ["made 1", "activate 1", "made 2", "activate 2"],
            "the old one is not suspended under the call")
        #expect(
            try await tills.host.generations(of: KioskPlugin.id).map(\.heldBy) == [
                ["1 call in Kiosk that has not ended", "kept for a rollback"], ["active: Kiosk"],
            ])
        #expect(gate.callsInFlight == 0, "whoever changes the new one does not wait for it")
        never.open()
        #expect(try await call.value == "old")
        await eventually { events.all.suffix(2) == ["suspend 1", "gone 1"] }
        try await tills.expectNothingLeft(slots: ["Kiosk": 1])
        await tills.host.stop()
    }

    @Test func `an exclusive component gives up what it has before the new one takes it, and calls wait`() async throws
    {
        let inside = Turnstile(), events = TillEvents()
        let tills = try TillHost(
            [], others: ["Kiosk": KioskPlugin.manager("ExclusiveKiosk", events)], linked: [KioskPlugin.edition()])
        let kiosk: Remote<Kiosks> = try await tills.host.manager("Kiosk"), gate = try await tills.gate("Kiosk")
        events.next(TillScript(edition: 2, opened: { await inside.pass() }))
        let swap = Task { try await tills.swap(linked: [KioskPlugin.edition("2.0.0")]) }
        await eventually { inside.arrived == 1 }
        let waiting = Task { try await kiosk.edition() }
        await eventually { gate.callsWaiting == 1 }
        inside.open()
        #expect(try await waiting.value == 2)
        #expect(try await swap.value.components.map(\.manner) == [.gated])
        await eventually { events.all == ["made 1", "activate 1", "made 2", "suspend 1", "activate 2", "gone 1"] }
        await tills.host.stop()
    }
}

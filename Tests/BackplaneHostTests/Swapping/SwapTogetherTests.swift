import Backplane
import Testing

@testable import BackplaneHost

/// Several plugins in one swap, and plugins whose contracts change.
@Suite(.timeLimit(.minutes(5)))
struct SwapTogetherTests {
    /// A till, and an exclusive kiosk of another plugin.
    private func host(_ events: TillEvents) throws -> TillHost {
        try TillHost(others: ["Kiosk": KioskPlugin.manager("ExclusiveKiosk", events)], linked: [KioskPlugin.edition()])
    }

    private static let both = [TillHost.edition("2.0.0"), KioskPlugin.edition("2.0.0")]

    @Test func `two plugins come into force together`() async throws {
        let events = TillEvents(), tills = try host(events), till = try await tills.till(),
            kiosk: Remote<Kiosks> = try await tills.host.manager("Kiosk")
        _ = try await till.add(5)
        tills.tills["Till"]!.next(TillScript(edition: 2))
        events.next(TillScript(edition: 2))
        let report = try await tills.swap(linked: Self.both)
        #expect(
            report.plugins.map(\.plugin) == [TillHost.plugin, KioskPlugin.id]
                && report.plugins.map(\.toGeneration) == [2, 2])
        #expect(try await (till.edition(), kiosk.edition(), till.add(1)) == (2, 2, 6))
        await tills.host.stop()
    }

    private static let fails: @Sendable () async throws -> Void = {
        throw BackplaneError(.componentFailed, "not today")
    }

    @Test(arguments: [
        (SwapStep.prepare, TillScript(), TillScript(edition: 2, built: fails)),
        (.suspend, TillScript(shut: fails), TillScript(edition: 2)),
        (.activate, TillScript(), TillScript(edition: 2, opened: fails)),
    ])
    func `when one fails neither is in force, in whatever step`(step: SwapStep, old: TillScript, new: TillScript)
        async throws
    {
        let events = TillEvents(old), tills = try host(events), till = try await tills.till(),
            kiosk: Remote<Kiosks> = try await tills.host.manager("Kiosk")
        _ = try await till.add(5)
        tills.tills["Till"]!.next(TillScript(edition: 2))
        events.next(new)
        let failure = await error { try await tills.swap(linked: Self.both) }
        #expect(failure?.message.contains(": \(step.rawValue): not today") == true, "\(String(describing: failure))")
        #expect(
            failure?.message.hasPrefix("\(TillHost.plugin) 2.0.0, \(KioskPlugin.id) 2.0.0 could not be swapped in")
                == true)
        #expect(try await (till.edition(), kiosk.edition(), till.add(1)) == (1, 1, 6))
        let states = try await tills.host.generations().map(\.state)
        #expect(states == [.inForce, .failed, .inForce, .failed])
        try await tills.expectNothingLeft(slots: ["Till": 1, "Kiosk": 1])
        await tills.host.stop()
    }

    @Test func `a contract that still fits is bound wire by wire, by the lane that fits`() async throws {
        let tills = try TillHost(
            others: ["Cashier": CashierPlugin.manager("Cashier")], linked: [LinkedPlugin(CashierPlugin.self)])
        let till = try await tills.till(), cashier: Remote<Cashiers> = try await tills.host.manager("Cashier")
        #expect(try await (till.add(1), cashier.add(1)) == (1, 2))
        let report = try await tills.swap(linked: [OtherTills.wider])
        #expect(
            report.wires.map(\.fromLane) == ["native", "native"]
                && report.wires.map(\.toLane) == ["encoded", "encoded"], "the methods stand in other places")
        #expect(report.wires.allSatisfy { $0.reason != nil })
        #expect(
            await tills.host.wires.map(\.lane.name) == ["encoded", "encoded", "native"],
            "and the program's to the cashier")
        #expect(try await (till.add(1), cashier.add(1), cashier.addKept(1), till.edition()) == (3, 4, 5, 2))
        #expect(try (till.sumNow(), cashier.sumNow()) == (5, 5))
        let wider: Remote<WiderTills> = try await tills.host.manager("Till")
        #expect(try await wider.take(2) == 3)
        // Back again, whoever needs the wider contract does not fit any more.
        let refusal = await error { try await tills.host.rollback(plugin: TillHost.plugin) }
        #expect(
            refusal?.code == .swapRefused
                && refusal?.message.contains("the host program calls Till by `Tills` 1.1.0") == true,
            "\(String(describing: refusal))")
        #expect(try await till.edition() == 2)
        await tills.host.stop()
    }

    @Test
    func `a contract that does not fit is refused before anything is touched, and all who need the old one are named`()
        async throws
    {
        let tills = try TillHost(
            others: ["Cashier": CashierPlugin.manager("Cashier")], linked: [LinkedPlugin(CashierPlugin.self)])
        let till = try await tills.till(), cashier: Remote<Cashiers> = try await tills.host.manager("Cashier"),
            events = tills.tills["Till"]!.all
        _ = try await till.add(5)
        let refusal = await error { try await tills.swap(linked: [OtherTills.strange]) }
        #expect(refusal?.code == .swapRefused)
        let reasons = refusal?.causes.map(\.message) ?? []
        #expect(
            reasons.contains {
                $0.hasPrefix("the host program calls Till through `Tills` 1.0.0, but the new `TillManager`")
            }, "\(reasons)")
        #expect(refusal?.detailedDescription.contains("Cashier") == true, "\(String(describing: refusal))")
        #expect(tills.tills["Till"]!.all == events, "nothing was made, nothing suspended")
        #expect(try await (till.add(1), cashier.add(1), till.edition()) == (6, 7, 1))
        await tills.host.stop()
    }
}

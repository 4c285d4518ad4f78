import Backplane
import Testing

@testable import BackplaneHost

/// What counts on probation, and what does not.
@Suite(.timeLimit(.minutes(5)))
struct SwapVerdictTests {
    private static func trial(calls: Int, errorRate: Double) -> SwapOptions {
        SwapOptions(
            probation: Probation(
                duration: .seconds(3_600), errorRate: errorRate, minimumCalls: calls, healthInterval: .seconds(3_600)),
            drainLimit: .seconds(60), stepLimit: .seconds(60))
    }

    @Test func `an error that a call from Swift meets, and one that a call from C meets, count once each`() async throws
    {
        let tills = try TillHost(
            others: ["Relay": RelayPlugin.manager(), "Cashier": CashierPlugin.manager("Cashier")],
            linked: [LinkedPlugin(CashierPlugin.self)], libraries: ["Relay"],
            in: RelayPlugin.folder())
        let relay: Remote<Tills> = try await tills.host.manager("Relay"),
            cashier: Remote<Cashiers> = try await tills.host.manager("Cashier")
        let till = try await tills.till(), inside = Turnstile()
        let script = TillScript(
            edition: 2,
            act: { _, text, _ in
                if text == "long" {
                    await inside.pass()
                    throw CancellationError()
                }
                throw BackplaneError(.componentFailed, text)
            })
        let swap = Task { try await tills.swap(script, Self.trial(calls: 12, errorRate: 0.5)) }
        try await eventually {
            try await tills.host.generations(of: TillHost.plugin).map(\.state) == [.retired, .onProbation]
        }
        tills.next(TillScript())
        for number in 1...2 {
            #expect(await error { try await till.act("program") }?.code == .componentFailed)
            #expect(await error { try await cashier.act("cashier") }?.code == .componentFailed)
            #expect(await error { try await relay.act("relay") }?.code == .componentFailed)
            #expect(await error { try await tills.test.call("Till", "act", #""by name""#) }?.code == .componentFailed)
            #expect(await tills.host.statistics.first { $0.component == "Till" }?.errors == 4 * number)
        }
        // One that was cancelled is nobody's mistake.
        let cancelled = [Task { try await till.act("long") }, Task { try await relay.act("long") }]
        await eventually { inside.arrived == 2 }
        for call in cancelled { call.cancel() }
        inside.open()
        for call in cancelled { _ = await call.result }
        #expect(try await (till.add(1), relay.add(1)) == (1, 2))
        let report = try await swap.value
        #expect(report.outcome == .rolledBack)
        #expect(
            report.failure?.message == "8 of 12 calls of Till failed, 66.7 %, and 50.0 % may",
            "\(String(describing: report.failure))")
        await tills.host.stop()
    }

    @Test func `a host that stops during a question for health says nothing of the component`() async throws {
        let never = Turnstile(), tills = try TillHost(stopLimit: .milliseconds(300)), till = try await tills.till(),
            events = tills.tills["Till"]!
        let swap = Task {
            try await tills.swap(
                TillScript(edition: 2, health: { await never.pass() }), Self.trial(calls: 1, errorRate: 0))
        }
        await eventually { never.arrived == 1 }
        tills.next(TillScript())
        #expect(try await till.add(1) == 1)
        let stop = Task { await tills.host.stop() }
        let report = try await swap.value
        #expect(report.outcome == .swapped && report.failure == nil && report.warnings == [])
        never.open()
        await stop.value
        await eventually { events.left == [:] }
        #expect(!events.all.contains("resume 1") && !events.all.contains("stop 1"), "\(events.all)")
        #expect(!tills.test.log.all.contains { $0.message == "rolled back" })
    }
}

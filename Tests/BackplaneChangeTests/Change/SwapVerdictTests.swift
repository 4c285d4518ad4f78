import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// What counts on probation, and what does not.
@Suite(.timeLimit(.minutes(5)))
struct SwapVerdictTests {
    private static func trial(calls: Int, errorRate: Double) -> ChangeOptions {
        ChangeOptions(
            probation: Probation(
                duration: .seconds(3_600), errorRate: errorRate, minimumCalls: calls, healthInterval: .seconds(3_600)),
            drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60))
    }

    @Test func `an error that a call from Swift meets, and one that a call from C meets, count once each`() async throws
    {
        let counters = try CounterHost(
            others: ["Relay": RelayPlugin.manager(), "Client": ClientPlugin.manager("Client")],
            linked: [LinkedPlugin(ClientPlugin.self)], libraries: ["Relay"],
            in: RelayPlugin.folder())
        let relay: Remote<Counting> = try await counters.host.manager("Relay"),
            client: Remote<Clients> = try await counters.host.manager("Client")
        let counter = try await counters.counter(), inside = TestGate()
        let script = CounterScript(
            edition: 2,
            act: { _, text, _ in
                if text == "long" {
                    await inside.passThoughCancelled()
                    throw CancellationError()
                }
                throw BackplaneError(.componentFailed, text)
            })
        let swap = Task { try await counters.swap(script, Self.trial(calls: 12, errorRate: 0.5)) }
        try await eventually {
            try await counters.host.generations(of: CounterHost.plugin).map(\.state) == [.retired, .onProbation]
        }
        counters.next(CounterScript())
        for number in 1...2 {
            #expect(await error { try await counter.act("program") }?.code == .componentFailed)
            #expect(await error { try await client.act("client") }?.code == .componentFailed)
            #expect(await error { try await relay.act("relay") }?.code == .componentFailed)
            #expect(
                await error { try await counters.test.call("Counter", "act", #""by name""#) }?.code == .componentFailed)
            #expect(await counters.host.statistics.first { $0.component == "Counter" }?.errors == 4 * number)
        }
        // One that was cancelled is nobody's mistake.
        let cancelled = [Task { try await counter.act("long") }, Task { try await relay.act("long") }]
        try await inside.arrivals(2)
        for call in cancelled { call.cancel() }
        inside.open()
        for call in cancelled { _ = await call.result }
        #expect(try await (counter.add(1), relay.add(1)) == (1, 2))
        let report = try await swap.value
        #expect(report.outcome == .rolledBack)
        #expect(
            report.failure?.message == "8 of 12 calls of Counter failed, 66.7 %; the limit is 50.0 %",
            "\(String(describing: report.failure))")
        await counters.host.stop()
    }
}

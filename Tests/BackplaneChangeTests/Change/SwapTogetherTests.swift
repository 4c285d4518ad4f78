import Backplane
import TestFixtures
import Testing

@testable import BackplaneHost

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

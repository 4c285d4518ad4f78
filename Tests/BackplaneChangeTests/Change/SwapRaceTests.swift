import Backplane
import BackplaneDocuments
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// Swaps that meet starts, stops, other changes and one another.
@Suite(.timeLimit(.minutes(5)))
struct SwapRaceTests {
    @Test func `two that are asked for at once are made one after the other`() async throws {
        let counters = try CounterHost(), counter = try await counters.counter()
        _ = try await counter.add(5)
        for round in 0..<20 {
            let swaps = [2, 3, 4].map { edition in
                Task { try await counters.swap(CounterScript(edition: round * 10 + edition)) }
            }
            for swap in swaps { #expect(try await swap.value.outcome == .changed) }
        }
        #expect(try counter.sumNow() == 5)
        let states = try await counters.host.generations().map(\.state)
        #expect(states.count { $0 == .active } == 1 && states.count == 61)
        try await counters.expectNothingLeft(slots: ["Counter": 1])
        await counters.host.stop()
    }

    @Test func `a swap waits for what starts`() async throws {
        let starting = TestGate(),
            counters = try CounterHost(
                ["A", "B"], wires: ["B": "A"],
                script: CounterScript(made: { context in
                    if context.wires.next != nil { await starting.passThoughCancelled() }
                }))
        let start = Task { try await counters.host.start() }
        try await starting.arrivals()
        let swap = Task { try await counters.swap(CounterScript(edition: 2)) }
        starting.open()
        #expect(try await swap.value.components.map(\.component) == ["A", "B"])
        try await start.value
        #expect(try await counters.counter("B").edition() == 2)
        await counters.host.stop()
    }

    @Test func `one that is looked up while it is about to change comes up with the new code`() async throws {
        let inside = TestGate(),
            counters = try CounterHost(
                ["A", "B"], script: CounterScript(suspended: { _ in await inside.passThoughCancelled() }))
        _ = try await counters.counter("A")
        let swap = Task { try await counters.swap(CounterScript(edition: 2)) }
        try await inside.arrivals()
        let late = Task { try await counters.counter("B").edition() }
        for _ in 0..<100 { await Task.yield() }
        #expect(counters.counters["B"]!.all == [])
        inside.open()
        #expect(try await swap.value.outcome == .changed)
        #expect(try await late.value == 2)
        await counters.host.stop()
    }

    @Test func `a reset and another manifest right behind a swap are made after it`() async throws {
        let inside = TestGate(),
            counters = try CounterHost(script: CounterScript(suspended: { _ in await inside.passThoughCancelled() })),
            counter = try await counters.counter()
        _ = try await counter.add(5)
        let swap = Task { try await counters.swap(CounterScript(edition: 2)) }
        try await inside.arrivals()
        let reset = Task { try await counters.host.reset("Counter") }
        inside.open()
        #expect(try await swap.value.outcome == .changed)
        #expect(try await reset.value.managers.restarted == ["Counter"])
        #expect(try await (counter.edition(), counter.add(1)) == (2, 1), "a reset starts again, with the new code")
        #expect(try await counters.swap(CounterScript(edition: 3)).outcome == .changed)
        let empty = ManifestDocument(["manifestVersion": 1, "plugins": [], "managers": [:]])
        #expect(
            try await counters.host.apply(empty, ChangeOptions(discardsState: true)).managers.stopped == ["Counter"])
        #expect(await error { try await counter.add(1) }?.code == .unknownManager)
        await counters.host.stop()
        try await counters.counters["Counter"]!.until { $0.left == [:] }
    }

    @Test func `a reset whose new instance does not start leaves the old one`() async throws {
        let counters = try CounterHost(), counter = try await counters.counter()
        _ = try await counter.add(5)
        counters.next(CounterScript(made: { _ in throw BackplaneError(.componentFailed, "ill") }))
        let failure = await error { try await counters.host.reset("Counter") }
        #expect(
            failure?.code == .swapFailed
                && failure?.message.hasPrefix("a new instance could not be activated: prepare: ") == true,
            "\(String(describing: failure))")
        #expect(try await counter.add(1) == 6)
        counters.next(CounterScript())
        #expect(try await counters.host.reset("Counter").managers.restarted == ["Counter"])
        #expect(try await counter.add(1) == 1, "a reset does not carry state over")
        await counters.host.stop()
    }

    /// A step that hangs, in the old code or in the new.
    private static let steps: [(ChangeStep, @Sendable (TestGate) -> (CounterScript, CounterScript))] = [
        (
            .prepare,
            { latch in (CounterScript(), CounterScript(edition: 2, made: { _ in await latch.passThoughCancelled() })) }
        ),
        (
            .suspend,
            { latch in (CounterScript(suspended: { _ in await latch.passThoughCancelled() }), CounterScript(edition: 2))
            }
        ),
        (
            .export,
            { latch in
                (
                    CounterScript(exported: {
                        await latch.passThoughCancelled()
                        return $0
                    }), CounterScript(edition: 2)
                )
            }
        ),
        (
            .import,
            { latch in
                (
                    CounterScript(),
                    CounterScript(
                        edition: 2,
                        imported: {
                            await latch.passThoughCancelled()
                            return $0
                        })
                )
            }
        ),
        (
            .activate,
            { latch in
                (CounterScript(), CounterScript(edition: 2, activated: { _ in await latch.passThoughCancelled() }))
            }
        ),
    ]

    @Test(arguments: steps.indices)
    func `a stop in the middle of a swap ends both, in whatever step`(index: Int) async throws {
        let (step, scripts) = Self.steps[index], latch = TestGate(), (old, new) = scripts(latch)
        let counters = try CounterHost(script: old, stopLimit: .seconds(60)), counter = try await counters.counter()
        _ = try await counter.add(5)
        let swap = Task {
            try await counters.swap(
                new, ChangeOptions(drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60)))
        }
        try await latch.arrivals()
        let gate = try await counters.gate("Counter"), waiting = Task { try await counter.act("hello") }
        await eventually { step == .prepare || gate.callsWaiting == 1 }
        let stop = Task { await counters.host.stop() }
        let failure = await error { try await swap.value }
        #expect(
            failure?.code == .hostStopped,
            "\(step): \(String(describing: failure))")
        latch.open()
        await stop.value
        _ = await waiting.result
        let events = counters.counters["Counter"]!
        try await events.until { $0.left == [:] }
        #expect(events.all.contains("stop 1"), "the old one is stopped as it would have been: \(events.all)")
        #expect(await error { try await counter.add(1) }?.code == .callRetired)
    }
}

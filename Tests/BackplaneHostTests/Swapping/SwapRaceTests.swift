import Backplane
import BackplaneDocuments
import Testing

@testable import BackplaneHost

/// Swaps that meet starts, stops, other changes and one another.
@Suite(.timeLimit(.minutes(5)))
struct SwapRaceTests {
    @Test func `two that are asked for at once are made one after the other`() async throws {
        let tills = try TillHost(), till = try await tills.till()
        _ = try await till.add(5)
        for round in 0..<20 {
            let swaps = [2, 3, 4].map { edition in
                Task { try await tills.swap(TillScript(edition: round * 10 + edition)) }
            }
            for swap in swaps { #expect(try await swap.value.outcome == .swapped) }
        }
        #expect(try till.sumNow() == 5)
        let states = try await tills.host.generations().map(\.state)
        #expect(states.count { $0 == .inForce } == 1 && states.count == 61)
        try await tills.expectNothingLeft(slots: ["Till": 1])
        await tills.host.stop()
    }

    @Test func `a swap waits for what starts`() async throws {
        let starting = Turnstile(),
            tills = try TillHost(
                ["A", "B"], wires: ["B": "A"],
                script: TillScript(made: { context in
                    if context.wires.next != nil { await starting.pass() }
                }))
        let start = Task { try await tills.host.start() }
        await eventually { starting.arrived == 1 }
        let swap = Task { try await tills.swap(TillScript(edition: 2)) }
        starting.open()
        #expect(try await swap.value.components.map(\.component) == ["A", "B"])
        try await start.value
        #expect(try await tills.till("B").edition() == 2)
        await tills.host.stop()
    }

    @Test func `what is not up comes up with the new code when it is needed, and what is up is swapped`() async throws {
        let tills = try TillHost(["A", "B", "C"], wires: ["C": "B"]), a = try await tills.till("A")
        _ = try await a.add(5)
        let report = try await tills.swap(TillScript(edition: 2))
        #expect(report.components.map(\.component) == ["A"])
        #expect(try await tills.till("C").edition() == 2)
        #expect(try await (a.edition(), a.add(1)) == (2, 6))
        #expect(tills.tills["C"]!.all == ["made 2", "activate 2"])
        await tills.host.stop()
    }

    @Test func `with nothing up a swap is made all the same`() async throws {
        let tills = try TillHost()
        #expect(try await tills.swap(TillScript(edition: 2)).outcome == .swapped)
        #expect(try await tills.till().edition() == 2)
        await tills.host.stop()
    }

    @Test func `what failed to start comes up with new code that does not fail`() async throws {
        let tills = try TillHost(
            ["A", "B"], wires: ["B": "A"],
            script: TillScript(made: { _ in throw BackplaneError(.componentFailed, "ill") }))
        #expect(await error { try await tills.host.start() } != nil)
        #expect(try await tills.swap(TillScript(edition: 2)).outcome == .swapped)
        #expect(try await tills.till("B").edition() == 2)
        #expect(await tills.host.managers.map { "\($0.state)" } == ["ready", "ready"])
        await tills.host.stop()
    }

    @Test func `one that is looked up while it is about to change comes up with the new code`() async throws {
        let inside = Turnstile(),
            tills = try TillHost(["A", "B"], script: TillScript(suspended: { _ in await inside.pass() }))
        _ = try await tills.till("A")
        let swap = Task { try await tills.swap(TillScript(edition: 2)) }
        await eventually { inside.arrived == 1 }
        let late = Task { try await tills.till("B").edition() }
        for _ in 0..<100 { await Task.yield() }
        #expect(tills.tills["B"]!.all == [])
        inside.open()
        #expect(try await swap.value.outcome == .swapped)
        #expect(try await late.value == 2)
        await tills.host.stop()
    }

    @Test func `a reset and another manifest right behind a swap are made after it`() async throws {
        let inside = Turnstile(), tills = try TillHost(script: TillScript(suspended: { _ in await inside.pass() })),
            till = try await tills.till()
        _ = try await till.add(5)
        let swap = Task { try await tills.swap(TillScript(edition: 2)) }
        await eventually { inside.arrived == 1 }
        let reset = Task { try await tills.host.reset("Till") }
        inside.open()
        #expect(try await swap.value.outcome == .swapped)
        #expect(try await reset.value.restarted == ["Till"])
        #expect(try await (till.edition(), till.add(1)) == (2, 1), "a reset starts again, with the new code")
        #expect(try await tills.swap(TillScript(edition: 3)).outcome == .swapped)
        let empty = ManifestDocument(["manifestVersion": 1, "plugins": [], "managers": [:]])
        #expect(try await tills.host.apply(empty).stopped == ["Till"])
        #expect(await error { try await till.add(1) }?.code == .unknownManager)
        await tills.host.stop()
        await eventually { tills.tills["Till"]!.left == [:] }
    }

    @Test func `a host that has stopped, or stops, swaps no more`() async throws {
        let tills = try TillHost()
        _ = try await tills.till()
        await tills.host.stop()
        #expect(await error { try await tills.swap(TillScript(edition: 2)) }?.code == .hostStopped)
        #expect(await error { try await tills.host.rollback(plugin: TillHost.plugin) }?.code == .hostStopped)
    }

    /// A step that hangs, in the old code or in the new.
    private static let steps: [(SwapStep, @Sendable (Turnstile) -> (TillScript, TillScript))] = [
        (.prepare, { turnstile in (TillScript(), TillScript(edition: 2, made: { _ in await turnstile.pass() })) }),
        (.suspend, { turnstile in (TillScript(suspended: { _ in await turnstile.pass() }), TillScript(edition: 2)) }),
        (
            .export,
            { turnstile in
                (
                    TillScript(exported: {
                        await turnstile.pass()
                        return $0
                    }), TillScript(edition: 2)
                )
            }
        ),
        (
            .import,
            { turnstile in
                (
                    TillScript(),
                    TillScript(
                        edition: 2,
                        imported: {
                            await turnstile.pass()
                            return $0
                        })
                )
            }
        ),
        (
            .activate,
            { turnstile in (TillScript(), TillScript(edition: 2, activated: { _ in await turnstile.pass() })) }
        ),
    ]

    @Test(arguments: steps.indices)
    func `a stop in the middle of a swap ends both, in whatever step`(index: Int) async throws {
        let (step, scripts) = Self.steps[index], turnstile = Turnstile(), (old, new) = scripts(turnstile)
        let tills = try TillHost(script: old, stopLimit: .seconds(60)), till = try await tills.till()
        _ = try await till.add(5)
        let swap = Task { try await tills.swap(new) }
        await eventually { turnstile.arrived == 1 }
        let gate = try await tills.gate("Till"), waiting = Task { try await till.act("hello") }
        await eventually { step == .prepare || gate.callsWaiting == 1 }
        let stop = Task { await tills.host.stop() }
        let failure = await error { try await swap.value }
        #expect(
            failure?.code == .swapFailed && failure?.causes.first?.code == .hostStopped,
            "\(step): \(String(describing: failure))")
        turnstile.open()
        await stop.value
        _ = await waiting.result
        let events = tills.tills["Till"]!
        await eventually { events.left == [:] }
        #expect(events.all.contains("stop 1"), "the old one is stopped as it would have been: \(events.all)")
        #expect(await error { try await till.add(1) }?.code == .callRetired)
    }

    @Test func `a stop while calls are drained ends the swap`() async throws {
        let never = Turnstile(),
            tills = try TillHost(
                script: TillScript(act: { _, text, _ in
                    await never.pass()
                    return text
                }), stopLimit: .seconds(60))
        let till = try await tills.till(), gate = try await tills.gate("Till"), call = Task { try await till.act("") }
        await eventually { never.arrived == 1 }
        let swap = Task { try await tills.swap(TillScript(edition: 2), SwapOptions(drainLimit: .seconds(3_600))) }
        await eventually { gate.isHeld }
        let stop = Task { await tills.host.stop() }
        #expect(await error { try await swap.value }?.causes.first?.code == .hostStopped)
        never.open()
        #expect(try await call.value == "")
        await stop.value
        await eventually { tills.tills["Till"]!.left == [:] }
    }
}

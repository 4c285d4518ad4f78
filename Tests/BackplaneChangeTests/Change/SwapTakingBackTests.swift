import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// Swaps that are taken back while calls are in the new code, and what old code does on the way back.
@Suite(.timeLimit(.minutes(5)))
struct SwapTakingBackTests {
    private static let lanes: [LaneRule] = [.fastest, .encoded]
    private static let ill: CounterScript.Step = { _ in throw BackplaneError(.componentFailed, "ill") }
    private static let trial = ChangeOptions(
        probation: Probation(duration: .seconds(3_600), errorRate: 0, minimumCalls: 1, healthInterval: .seconds(3_600)),
        drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60))

    /// B calls A, which is not up: it failed when it was recreated.
    private func withoutA(_ lanes: LaneRule) async throws -> CounterHost {
        let counters = try CounterHost(["A", "B"], wires: ["B": "A"], lanes: lanes, stopLimit: .milliseconds(100))
        _ = try await counters.counter("B")
        counters.next(CounterScript(made: Self.ill))
        #expect(await error { try await counters.host.reset("A") } != nil)
        return counters
    }

    /// Of the new code: `act` stays in A, and fails in B.
    private static func script(_ staying: TestGate, activated: @escaping CounterScript.Step = { _ in }) -> CounterScript
    {
        CounterScript(
            edition: 2, activated: activated,
            act: { counter, _, _ in
                guard counter.context.wires.next == nil else { throw BackplaneError(.componentFailed, "ill") }
                await staying.passThoughCancelled()
                return "\(counter.script.edition)"
            })
    }

    /// A has come up from code that was taken back, and a call is in it.
    private func expectWithdrawal(
        of counters: CounterHost, _ a: Remote<Counting>, _ call: Task<String, any Error>, _ staying: TestGate
    ) async throws {
        let refusal = await error { try await a.edition() }, now = await error { try a.editionNow() }
        #expect(
            refusal?.code == .callRetired
                && refusal?.message == "A was started from code that has been rolled back; look it up again",
            "\(String(describing: refusal))")
        #expect(now?.code == .callRetired)
        try await eventually {
            try await counters.host.generations(of: CounterHost.plugin).map(\.heldBy).last == [
                "1 call in A that has not ended"
            ]
        }
        #expect(!counters.counters["A"]!.all.contains("gone 2"))
        staying.open()
        #expect(try await call.value == "2", "to the end on the code it began on")
        try await counters.counters["A"]!.until { $0.contains("gone 2") }
        let again = try await counters.counter("A")
        #expect(try await again.edition() == 1)
        #expect(try await a.edition() == 1, "who kept it gets there, too")
        try await counters.expectNothingLeft(slots: ["A": 2, "B": 1])
        await counters.host.stop()
    }

    @Test(arguments: lanes)
    func `one that was not there before goes nowhere when its swap fails, and a call in it ends`(lanes: LaneRule)
        async throws
    {
        let activating = TestGate(), staying = TestGate(), counters = try await withoutA(lanes)
        let swap = Task {
            try await counters.swap(
                Self.script(
                    staying,
                    activated: { context in
                        guard context.wires.next != nil else { return }
                        await activating.passThoughCancelled()
                        throw BackplaneError(.componentFailed, "ill")
                    }))
        }
        try await activating.arrivals()
        let a = try await counters.counter("A"), call = Task { try await a.act("") }
        try await staying.arrivals()
        counters.next(CounterScript())
        activating.open()
        let failure = await counters.test.clock.passing(.milliseconds(100)) { await error { try await swap.value } }
        #expect(failure?.message.contains(": activate: ill") == true)
        try await expectWithdrawal(of: counters, a, call, staying)
    }

    @Test(arguments: lanes)
    func `one that was not there before goes nowhere when its generation fails its probation, and a call in it ends`(
        lanes: LaneRule
    ) async throws {
        let staying = TestGate(), counters = try await withoutA(lanes), b = try await counters.counter("B")
        let swap = Task { try await counters.swap(Self.script(staying), Self.trial) }
        try await eventually { try await counters.host.generations().map(\.state) == [.retired, .onProbation] }
        let a = try await counters.counter("A"), call = Task { try await a.act("") }
        try await staying.arrivals()
        counters.next(CounterScript())
        #expect(await error { try await b.act("") }?.message == "ill")
        let report = try await swap.value
        #expect(report.outcome == .rolledBack && report.components.map(\.component) == ["A", "B"])
        #expect(try await b.edition() == 1)
        try await expectWithdrawal(of: counters, a, call, staying)
    }

    @Test(arguments: lanes)
    func `old code that calls another while it is resumed meets one that is back already`(lanes: LaneRule) async throws
    {
        let answers = Answers(),
            counters = try CounterHost(
                ["A", "B"], wires: ["B": "A"], lanes: lanes,
                script: CounterScript(resumed: { context in
                    guard let next = context.wires.next else { return }
                    await answers.note(
                        "\(try await next.edition(context.begin())) \(try await next.add(10, context.begin()))")
                }))
        let a = try await counters.counter("A")
        _ = try await (a.add(3), counters.counter("B"))
        let failure = await error { try await counters.swap(CounterScript(edition: 2, activated: Self.ill)) }
        #expect(failure?.code == .swapFailed)
        #expect(await answers.all == ["1 13"])
        #expect(
            counters.test.log.records.filter { $0.level >= .error }.map(\.message) == [
                "swap failed, the old code keeps running"
            ])
        #expect(try await a.add(1) == 14)
        try await counters.expectNothingLeft(slots: ["A": 2, "B": 1])
        await counters.host.stop()
    }

    @Test(arguments: lanes)
    func `old code that is made again calls another while it is made and activated, with the state that it has back`(
        lanes: LaneRule
    ) async throws {
        let answers = Answers(), counters = try CounterHost(["A", "B"], wires: ["B": "A"], lanes: lanes),
            a = try await counters.counter("A")
        let b = try await counters.counter("B")
        let swap = Task {
            try await counters.swap(
                CounterScript(edition: 2, act: { _, _, _ in throw BackplaneError(.componentFailed, "ill") }), Self.trial
            )
        }
        try await eventually { try a.editionNow() == 2 }
        let asks: CounterScript.Step = { context in
            guard let next = context.wires.next else { return }
            await answers.note("\(try await next.edition(context.begin())) \(try await next.add(10, context.begin()))")
        }
        counters.next(CounterScript(made: asks, activated: asks))
        _ = try await a.add(3)
        #expect(await error { try await b.act("") }?.message == "ill")
        let report = try await swap.value
        #expect(report.outcome == .rolledBack && report.warnings == [], "\(report.warnings)")
        #expect(await answers.all == ["1 13", "1 23"])
        #expect(try await a.add(1) == 24)
        try await counters.expectNothingLeft(slots: ["A": 2, "B": 1])
        await counters.host.stop()
    }
}

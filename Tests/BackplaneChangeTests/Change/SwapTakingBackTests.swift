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
                "change failed, the old code keeps running"
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

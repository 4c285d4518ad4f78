import Backplane
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Generations that have to prove themselves, and what brings the old ones back.
@Suite(.timeLimit(.minutes(5)))
struct SwapProbationTests {
    private static let lanes: [LaneRule] = [.fastest, .encoded]
    private static let long = ChangeOptions(
        probation: Probation(
            duration: .seconds(3_600), errorRate: 0.3, minimumCalls: 10, healthInterval: .seconds(3_600)),
        drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60))
    private static let fails: @Sendable (StatefulCounter, String, Call) async throws -> String = { _, _, _ in
        throw BackplaneError(.componentFailed, "ill")
    }

    /// Calls until the swap is over.
    private func call(until swap: Task<ChangeReport, any Error>, _ body: () async throws -> Void) async throws
        -> ChangeReport
    {
        let over = Flag()
        let end = Task {
            defer { over.set() }
            return try await swap.value
        }
        while !over.isSet {
            try await body()
            // Whoever else is there needs a thread, too.
            await Task.yield()
        }
        return try await end.value
    }

    @Test func `a manager that came up from code on probation goes with it, and comes up again from the old code`()
        async throws
    {
        let counters = try CounterHost(["Counter", "Late"]), counter = try await counters.counter(),
            events = counters.counters["Late"]!
        let swap = Task { try await counters.swap(CounterScript(edition: 2, act: Self.fails), Self.long) }
        try await eventually { try counter.editionNow() == 2 }
        let late = try await counters.counter("Late")
        #expect(try await late.edition() == 2)
        counters.next(CounterScript())
        let report = try await call(until: swap) { _ = try? await counter.act("") }
        #expect(report.outcome == .rolledBack)
        #expect(try await late.edition() == 1)
        try await events.until { $0.left == [1: 1] }
        #expect(events.all.contains("stop 2"), "nothing of the rejected code is left")
        await counters.host.stop()
    }

    @Test(.timeLimit(.minutes(1)))
    func `a start of what the new code has replaced takes that at once, and not after the probation`() async throws {
        let counters = try CounterHost(["Counter", "Late"]), counter = try await counters.counter()
        let isFound = Flag(), gate = TestGate()
        let start = Task {
            try await counters.host.coordinator.startFormer("Late") {
                isFound.set()
                try? await gate.pass()
            }
        }
        await eventually { isFound.isSet }
        let swap = Task { try await counters.swap(CounterScript(edition: 2), Self.long) }
        try await eventually { try counter.editionNow() == 2 }
        gate.open()
        await eventually { await counters.host.managers.contains { $0.name == "Late" && $0.state == .ready } }
        #expect(try await counters.counter("Late").edition() == 2)
        await counters.host.stop()
        _ = await (start.result, swap.result)
    }

    @Test(arguments: lanes)
    func `too many errors bring the old code back, with the state that the new one had`(lanes: LaneRule) async throws {
        let counters = try CounterHost(lanes: lanes), counter = try await counters.counter(),
            events = counters.counters["Counter"]!
        _ = try await counter.add(5)
        let swap = Task { try await counters.swap(CounterScript(edition: 2, act: Self.fails), Self.long) }
        try await eventually { try counter.editionNow() == 2 }
        counters.next(CounterScript())
        #expect(try await counter.add(10) == 15)
        let report = try await call(until: swap) { _ = try? await counter.act("") }
        #expect(report.outcome == .rolledBack && report.warnings == [])
        #expect(
            report.failure?.code == .componentFailed
                && report.failure?.message.contains("calls of Counter failed, ") == true,
            "\(String(describing: report.failure))")
        #expect(try await counter.edition() == 1)
        #expect(try await counter.add(1) == 16)
        try await events.until { $0.left == [1: 1] }
        #expect(events.all.filter { $0 == "made 1" }.count == 2, "a new instance of the old code took the state back")
        #expect(try await counters.host.generations(of: CounterHost.plugin).map(\.state) == [.active, .failed])
        try await counters.expectNothingLeft(slots: ["Counter": 1])
        try await counters.swap(CounterScript(edition: 3))
        #expect(try await counter.add(1) == 17)
        await counters.host.stop()
    }

    @Test func `one that is not well is taken back`() async throws {
        let counters = try CounterHost(), counter = try await counters.counter()
        _ = try await counter.add(5)
        let report = try await counters.swap(
            CounterScript(
                edition: 2,
                health: {
                    counters.next(CounterScript())
                    throw BackplaneError(.componentFailed, "feverish")
                }), Self.long)
        #expect(report.outcome == .rolledBack && report.failure?.message == "Counter is unhealthy: feverish")
        #expect(try await (counter.edition(), counter.add(1)) == (1, 6))
        await counters.host.stop()
    }

    @Test func `one that does not say whether it is well is taken back in its time, with its state`() async throws {
        let never = TestGate(), counters = try CounterHost(), counter = try await counters.counter(),
            events = counters.counters["Counter"]!
        _ = try await counter.add(5)
        var options = Self.long
        options.stepLimit = .seconds(10)
        let report = try await counters.test.expiring(.seconds(10), once: { try await never.arrivals() }) { [options] in
            try await counters.swap(
                CounterScript(
                    edition: 2,
                    health: {
                        counters.next(CounterScript())
                        await never.passThoughCancelled()
                    }), options)
        }
        #expect(
            report.outcome == .rolledBack
                && report.failure?.message.hasPrefix(
                    "Counter is unhealthy: Counter took longer than 10.0 seconds to report its health") == true
        )
        #expect(report.warnings == [], "a question for health may be under way with other steps")
        #expect(try await (counter.edition(), counter.add(1)) == (1, 6))
        never.open()
        try await events.until { $0.left == [1: 1] }
        await counters.host.stop()
    }

    @Test func `one that is well until its probation ends stays, and is asked at every interval`() async throws {
        let asked = Atomic(0), counters = try CounterHost(), counter = try await counters.counter()
        var options = Self.long
        options.probation = Probation(duration: .seconds(60), healthInterval: .seconds(20))
        let swap = Task { [options] in
            try await counters.swap(
                CounterScript(edition: 2, health: { asked.wrappingAdd(1, ordering: .relaxed) }), options)
        }
        for _ in 0..<3 { try await counters.test.clock.expire(.seconds(20)) }
        #expect(try await swap.value.outcome == .changed)
        #expect(asked.load(ordering: .relaxed) == 3)
        #expect(try await counter.edition() == 2)
        await counters.host.stop()
    }

    @Test(.timeLimit(.minutes(1)))
    func `health is not asked for without a pause, whatever the interval`() async throws {
        let asked = Atomic(0), counters = try CounterHost(), counter = try await counters.counter()
        var options = Self.long
        options.probation = Probation(duration: .seconds(3_600), healthInterval: .zero)
        let swap = Task { [options] in
            try await counters.swap(
                CounterScript(edition: 2, health: { asked.wrappingAdd(1, ordering: .relaxed) }), options)
        }
        for _ in 0..<3 { try await counters.test.clock.expire(.milliseconds(20)) }
        await eventually { asked.load(ordering: .relaxed) == 4 }
        #expect(try await counter.edition() == 2)
        await counters.host.stop()
        #expect(asked.load(ordering: .relaxed) == 4)
        _ = await swap.result
    }

    @Test func `state goes back through the way down`() async throws {
        let counters = try CounterHost(), counter = try await counters.counter()
        _ = try await counter.add(5)
        let swap = Task { try await counters.swap(linked: [OtherCounters.newer], Self.long) }
        try await eventually { try counter.editionNow() == 4 }
        #expect(try await counter.add(2) == 7)
        let report = try await call(until: swap) { _ = try? await counter.act("") }
        #expect(report.outcome == .rolledBack && report.warnings == [])
        #expect(report.components[0].state?.fromVersion == 1 && report.components[0].state?.toVersion == 2)
        #expect(try await (counter.edition(), counter.add(1)) == (1, 8))
        await counters.host.stop()
    }

    @Test func `without a migration down the old one continues from where it was, and the report names what is lost`()
        async throws
    {
        let counters = try CounterHost(), counter = try await counters.counter(), events = counters.counters["Counter"]!
        _ = try await counter.add(5)
        let swap = Task { try await counters.swap(linked: [OtherCounters.oneWay], Self.long) }
        try await eventually { try counter.editionNow() == 5 }
        #expect(try await counter.add(2) == 7)
        let report = try await call(until: swap) { _ = try? await counter.act("") }
        #expect(report.outcome == .rolledBack)
        #expect(
            report.warnings == [
                "the changes to the state of Counter since the swap are lost, and it continues with the earlier state: `counter` is written in version 2, but the new code reads version 1"
            ])
        #expect(try await (counter.edition(), counter.add(1)) == (1, 6))
        #expect(events.all.contains("resume 1"))
        try await counters.expectNothingLeft(slots: ["Counter": 1])
        await counters.host.stop()
    }

    @Test(arguments: lanes)
    func `a call that stays in the new code keeps it alive when it is taken back`(lanes: LaneRule) async throws {
        let never = TestGate(), counters = try CounterHost(lanes: lanes), counter = try await counters.counter(),
            events = counters.counters["Counter"]!
        _ = try await counter.add(5)
        var options = Self.long
        options.drain = .upTo(.seconds(10), then: .fail)
        let script = CounterScript(
            edition: 2,
            act: { counter, text, _ in
                if text == "fail" { throw BackplaneError(.componentFailed, "ill") }
                await never.passThoughCancelled()
                return "\(counter.script.edition) \(counter.sum.withLock { $0 })"
            })
        let swap = Task { [options] in try await counters.swap(script, options) }
        try await eventually { try counter.editionNow() == 2 }
        counters.next(CounterScript())
        let call = Task { try await counter.act("stay") }
        try await never.arrivals()
        let ended = Task { try await self.call(until: swap) { _ = try? await counter.act("fail") } }
        // A drain whose calls come later has as much time as a step.
        try await counters.test.clock.expire(.seconds(10))
        let report = try await ended.value
        #expect(report.outcome == .rolledBack)
        #expect(report.warnings.count == 1)
        // One that fails may be on its way out when the time is over.
        let warning = try #require(report.warnings.first)
        #expect(warning.hasPrefix("during the rollback: calls have not ended within 10.0 seconds: "))
        #expect(warning.contains(" of the host program to Counter"))
        #expect(try await (counter.edition(), counter.add(1)) == (1, 6))
        #expect(!events.all.contains("gone 2"))
        never.open()
        #expect(try await call.value == "2 5")
        try await events.until { $0.left == [1: 1] }
        try await counters.expectNothingLeft(slots: ["Counter": 1])
        await counters.host.stop()
    }

    @Test func `a host that stops during probation keeps the new code, and stops`() async throws {
        let counters = try CounterHost(), counter = try await counters.counter(), events = counters.counters["Counter"]!
        let swap = Task { try await counters.swap(CounterScript(edition: 2), Self.long) }
        try await eventually { try counter.editionNow() == 2 }
        counters.next(CounterScript())
        #expect(try await counters.host.generations().map(\.state) == [.retired, .onProbation])
        await counters.host.stop()
        #expect(try await swap.value.outcome == .changed)
        try await events.until { $0.left == [:] }
        #expect(events.all.contains("stop 2") && !events.all.contains("stop 1"))
        #expect(counters.test.log.records.allSatisfy { $0.level < .error })
    }
}

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

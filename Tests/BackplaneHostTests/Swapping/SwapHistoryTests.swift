import Backplane
import Testing

@testable import BackplaneHost

/// What is known of generations, and the way back to older ones.
@Suite(.timeLimit(.minutes(5)))
struct SwapHistoryTests {
    @Test func `each of the last generations can be gone back to, with the state of now`() async throws {
        let counters = try CounterHost(), counter = try await counters.counter()
        for edition in 2...12 { try await counters.swap(CounterScript(edition: edition)) }
        await eventually { await !counters.host.coordinator.hasRetirements }
        let all = try await counters.host.generations(of: CounterHost.plugin)
        #expect(all.map(\.number) == Array(1...12) && all.map(\.version.major) == Array(1...12))
        #expect(all.map(\.canReturn) == (1...12).map { (4...11).contains($0) }, "the last \(GenerationTable.kept)")
        #expect(all.last?.state == .active && all.last?.heldBy == ["active: Counter"])
        #expect(all[5].heldBy == ["kept for a rollback"])
        var sum = 0
        for number in 4...11 {
            sum = try await counter.add(1)
            let report = try await counters.host.rollback(plugin: CounterHost.plugin, to: number)
            #expect(report.plugins.map(\.toGeneration) == [number])
            #expect(try counter.sumNow() == sum)
            let now = try await counters.host.generations(of: CounterHost.plugin)
            #expect(now.filter { $0.state == .active }.map(\.number) == [number] && now.count == 12)
        }
        await counters.host.stop()
    }

    @Test func `without a number it is the previously active one`() async throws {
        let counters = try CounterHost(), counter = try await counters.counter()
        let none = await error { try await counters.host.rollback(plugin: CounterHost.plugin) }
        #expect(
            none?.code == .swapRefused
                && none?.message == "\(CounterHost.plugin) has no retired generation; there is none to roll back to")
        try await counters.swap(CounterScript(edition: 2))
        #expect(try await counters.host.rollback(plugin: CounterHost.plugin).plugins.map(\.toGeneration) == [1])
        #expect(try await counters.host.rollback(plugin: CounterHost.plugin).plugins.map(\.toGeneration) == [2])
        let wrong = await error { try await counters.host.rollback(plugin: CounterHost.plugin, to: 7) }
        #expect(wrong?.message == "\(CounterHost.plugin) has no retired generation 7; retired generations: 1")
        let stranger = await error { try await counters.host.rollback(plugin: "org.nobody") }
        #expect(stranger?.code == .pluginUnknown)
        #expect(try await counter.add(1) == 1)
        await counters.host.stop()
    }

    private static let ill: @Sendable () async throws -> Void = { throw BackplaneError(.componentFailed, "ill") }
    private static let trial = SwapOptions(
        probation: Probation(duration: .seconds(3_600), healthInterval: .seconds(3_600)),
        drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60))

    @Test func `only committed generations are rolled back to`() async throws {
        let counters = try CounterHost()
        _ = try await counters.counter()
        try await counters.swap(CounterScript(edition: 2))
        #expect(
            await error {
                try await counters.swap(CounterScript(edition: 3, activated: { _ in try await Self.ill() }))
            }?.code
                == .swapFailed)
        let report = try await counters.swap(
            CounterScript(
                edition: 4,
                health: {
                    counters.next(CounterScript(edition: 2))
                    try await Self.ill()
                }), Self.trial)
        #expect(report.outcome == .rolledBack)
        let all = try await counters.host.generations(of: CounterHost.plugin)
        #expect(
            all.map(\.state) == [.retired, .active, .failed, .failed]
                && all.map(\.canReturn) == [true, false, false, false])
        for number in [3, 4] {
            let refusal = await error { try await counters.host.rollback(plugin: CounterHost.plugin, to: number) }
            #expect(
                refusal?.message == "\(CounterHost.plugin) has no retired generation \(number); retired generations: 1")
        }
        #expect(try await counters.host.rollback(plugin: CounterHost.plugin).plugins.map(\.toGeneration) == [1])
        #expect(try await counters.host.rollback(plugin: CounterHost.plugin).plugins.map(\.toGeneration) == [2])
        await counters.host.stop()
    }

    @Test func `one that failed its probation when it came back is gone back to by its number alone`() async throws {
        let counters = try CounterHost(), counter = try await counters.counter()
        for edition in 2...3 { try await counters.swap(CounterScript(edition: edition)) }
        /// Goes back to the first, which is not well.
        func fail() async throws {
            counters.next(
                CounterScript(health: {
                    counters.next(CounterScript(edition: 3))
                    try await Self.ill()
                }))
            #expect(
                try await counters.host.rollback(plugin: CounterHost.plugin, to: 1, Self.trial).outcome == .rolledBack)
            #expect(try await counter.edition() == 3)
        }
        try await fail()
        #expect(try await counters.host.generations(of: CounterHost.plugin).map(\.canReturn) == [true, true, false])
        #expect(try await counters.host.rollback(plugin: CounterHost.plugin).plugins.map(\.toGeneration) == [2])
        #expect(
            try await counters.host.rollback(plugin: CounterHost.plugin, to: 1).plugins.map(\.toGeneration) == [1],
            "this time it is well")
        #expect(try await counters.host.rollback(plugin: CounterHost.plugin).plugins.map(\.toGeneration) == [2])
        #expect(
            try await counters.host.rollback(plugin: CounterHost.plugin).plugins.map(\.toGeneration) == [1],
            "and so it is as good as the others")
        await counters.host.stop()
    }

    @Test func `one that is prepared is loaded, and has failed only when it has`() async throws {
        let making = Latch(), counters = try CounterHost()
        _ = try await counters.counter()
        func states() async throws -> [Generation.State] {
            try await counters.host.generations(of: CounterHost.plugin).map(\.state)
        }
        let swap = Task { try await counters.swap(CounterScript(edition: 2, made: { _ in await making.pass() })) }
        await eventually { making.arrived == 1 }
        #expect(try await states() == [.active, .loaded])
        #expect(try await counters.host.generations(of: CounterHost.plugin).map(\.canReturn) == [false, false])
        making.open()
        _ = try await swap.value
        #expect(try await states() == [.retired, .active])
        let failing = Latch()
        let failure = Task {
            try await counters.swap(
                CounterScript(
                    edition: 3,
                    made: { _ in
                        await failing.pass()
                        try await Self.ill()
                    }))
        }
        await eventually { failing.arrived == 1 }
        #expect(try await states() == [.retired, .active, .loaded])
        failing.open()
        #expect(await error { try await failure.value }?.code == .swapFailed)
        #expect(try await states() == [.retired, .active, .failed])
        await counters.host.stop()
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `statistics count over swaps`(lanes: LaneRule) async throws {
        let
            counters = try CounterHost(
                lanes: lanes, script: CounterScript(act: { _, text, _ in throw BackplaneError(.componentFailed, text) })
            ),
            counter = try await counters.counter()
        for _ in 0..<10 { _ = try await counter.add(1) }
        for _ in 0..<3 { _ = try? await counter.act("ill") }
        func statistics() async -> ComponentStatistics? { await counters.host.statistics.first }
        // A call that is answered may have yet to return on the thread that it was made on.
        await eventually { await statistics()?.inFlight == 0 }
        let found = await statistics()
        #expect(
            found
                == ComponentStatistics(
                    component: "Counter", role: "manager", managers: ["Counter"], plugin: CounterHost.plugin,
                    generation: 1,
                    calls: 13, errors: 3, inFlight: 0, waiting: 0, latency: found?.latency,
                    lastFailure: found?.lastFailure))
        #expect(found?.latency?.calls == (lanes == .encoded ? 13 : nil))
        #expect(found?.lastFailure?.error.message == "ill")
        let inside = Latch()
        let swap = Task {
            try await counters.swap(
                CounterScript(
                    edition: 2, activated: { _ in await inside.pass() },
                    act: { _, text, _ in throw BackplaneError(.componentFailed, text) }))
        }
        await eventually { inside.arrived == 1 }
        let waiting = Task { try await counter.add(1) }
        await eventually { await statistics()?.waiting == 1 }
        inside.open()
        _ = try await (swap.value, waiting.value)
        #expect(await statistics()?.lastFailure == found?.lastFailure, "the swap forgets no error")
        _ = try? await counter.act("worse")
        await eventually { await statistics()?.errors == 4 }
        #expect(await statistics()?.lastFailure?.error.message == "worse")
        await eventually { await statistics()?.calls == 15 }
        #expect(await statistics()?.generation == 2)
        try await counters.host.reset("Counter")
        let after = await statistics()
        #expect(after?.errors == 4 && after?.lastFailure?.error.message == "worse")
        await counters.host.stop()
    }
}

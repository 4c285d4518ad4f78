import Backplane
import TestFixtures
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
    private static let trial = ChangeOptions(
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
}

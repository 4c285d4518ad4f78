import Backplane
import ChallengeModule
import Testing

@testable import BackplaneHost

/// What comes up when, beside what else.
@Suite(.timeLimit(.minutes(5)))
struct ParallelStartTests {
    @Test(arguments: Origin.allCases)
    func `managers that do not need each other start at the same time`(origin: Origin) async throws {
        // None of them comes up before all have begun.
        let citizens = (0..<20).map { ("C\($0)", Society.Citizen(number: $0, party: ("all \(origin)", 20))) }
        let society = try Society(Dictionary(uniqueKeysWithValues: citizens), from: origin)
        try await society.host.start()
        #expect(await society.states().allSatisfy { $0.hasSuffix(" ready") })
        await society.host.stop()
    }

    @Test func `who uses another comes up after it, along every path`() async throws {
        let society = try Society([
            "Top": .init(left: "Left", right: "Right"), "Left": .init(number: 1, left: "Bottom"),
            "Right": .init(number: 2, left: "Bottom"), "Bottom": .init(),
        ])
        try await society.host.start()
        let order = society.test.log.all.filter { $0.message == "started" }.compactMap { $0.metadata["component"] }
        #expect(order.first == "Bottom" && order.last == "Top" && order.count == 4)
        #expect(try await society.citizen("Top").friends() == [1, 2])
        await society.host.stop()
    }

    @Test func `a failure takes along who needs it, by whatever path, and nobody else`() async throws {
        let society = try Society([
            "A": .init(fails: "no"), "B": .init(left: "A"), "C": .init(left: "B", right: "E"), "D": .init(left: "E"),
            "E": .init(),
        ])
        let failure = await error { try await society.host.start() }
        #expect(
            failure?.code == .componentFailed && failure?.location == "/managers/A" && failure?.message == "no",
            "told once")
        #expect(await society.states() == ["A failed", "B unsatisfied", "C unsatisfied", "D ready", "E ready"])

        let status = await society.host.managers.first { $0.name == "C" }
        guard case .unsatisfied(let reason)? = status?.state else {
            Issue.record("C is \(String(describing: status))")
            return
        }
        #expect(reason.message == "`B` did not start: no" && reason.location == "/managers/C/uses/left")
        #expect(reason.causes.map(\.location) == ["/managers/A"])
        await society.host.stop()
    }

    @Test func `of one round of starting nothing is tried twice; of the next it is`() async throws {
        let users = (0..<50).map { ("User\($0)", Society.Citizen(left: "Broken")) }
        let society = try Society(
            Dictionary(uniqueKeysWithValues: users).merging(["Broken": .init(fails: "no"), "Counter": .init()]) { $1 })
        let counter = try await society.citizen("Counter")
        let first = try counter.instance()
        for round in 1...2 {
            _ = await error { try await society.host.start() }
            _ = try await society.host.reset("Counter")
            // The instance that failed was one, and the new counter is another.
            #expect(try counter.instance() == first + 2 * round)
        }
        await society.host.stop()
    }

    @Test func `a lazy manager starts when it is looked up or needed, and not before`() async throws {
        let society = try Society([
            "Eager": .init(left: "Needed"), "Needed": .init(isLazy: true),
            "Lazy": .init(number: 7, left: "LazyToo", isLazy: true), "LazyToo": .init(isLazy: true),
        ])
        try await society.host.start()
        #expect(await society.states() == ["Eager ready", "Lazy resolved", "LazyToo resolved", "Needed ready"])
        #expect(try await society.citizen("Lazy").number() == 7)
        #expect(await society.states() == ["Eager ready", "Lazy ready", "LazyToo ready", "Needed ready"])
        await society.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `a thousand racing look-ups make one instance`(origin: Origin) async throws {
        let society = try Society(["A": .init(left: "B"), "B": .init()], from: origin)
        let instances = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<1_000 { group.addTask { try await society.citizen("A").instance() } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(instances.count == 1)
        await society.host.stop()
    }

    @Test func `a host that stops while a start is under way ends both`() async throws {
        let society = try Society(["A": .init(party: ("nobody comes", 2)), "B": .init(left: "A")])
        async let start = error { try await society.host.start() }
        await eventually { await society.states().first == "A starting" }
        await society.host.stop()
        #expect(await start?.code == .hostStopped)
    }
}

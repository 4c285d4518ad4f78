import Backplane
import BackplaneTestKit
import Challenge
import TestFixtures
import Testing

@testable import BackplaneHost

/// What comes up when, beside what else.
@Suite(.timeLimit(.minutes(5)))
struct ParallelStartTests {
    @Test(arguments: Origin.allCases)
    func `managers that do not need each other start at the same time`(origin: Origin) async throws {
        // None of them comes up before all have begun.
        let peers = (0..<20).map { ("C\($0)", PeerHost.Peer(number: $0, barrier: ("all \(origin)", 20))) }
        let peerHost = try PeerHost(Dictionary(uniqueKeysWithValues: peers), from: origin)
        try await peerHost.host.start()
        #expect(await peerHost.states().allSatisfy { $0.hasSuffix(" ready") })
        await peerHost.host.stop()
    }

    @Test func `a user starts after its provider, along every path`() async throws {
        let peerHost = try PeerHost([
            "Top": .init(left: "Left", right: "Right"), "Left": .init(number: 1, left: "Bottom"),
            "Right": .init(number: 2, left: "Bottom"), "Bottom": .init(),
        ])
        try await peerHost.host.start()
        let order = peerHost.test.log.records.filter { $0.message == "started" }.compactMap { $0.metadata["component"] }
        #expect(order.first == "Bottom" && order.last == "Top" && order.count == 4)
        #expect(try await peerHost.peer("Top").friends() == [1, 2])
        await peerHost.host.stop()
    }

    @Test func `a failure affects its users, along every path, and no others`() async throws {
        let peerHost = try PeerHost([
            "A": .init(fails: "no"), "B": .init(left: "A"), "C": .init(left: "B", right: "E"), "D": .init(left: "E"),
            "E": .init(),
        ])
        let failure = await error { try await peerHost.host.start() }
        #expect(
            failure?.code == .componentFailed && failure?.location == "/managers/A" && failure?.message == "no",
            "told once")
        #expect(await peerHost.states() == ["A failed", "B unsatisfied", "C unsatisfied", "D ready", "E ready"])

        let status = await peerHost.host.managers.first { $0.name == "C" }
        guard case .unsatisfied(let reason)? = status?.state else {
            Issue.record("C is \(String(describing: status))")
            return
        }
        #expect(reason.message == "`B` did not start: no" && reason.location == "/managers/C/uses/left")
        #expect(reason.causes.map(\.location) == ["/managers/A"])
        await peerHost.host.stop()
    }

    @Test func `of one round of starting nothing is tried twice; of the next it is`() async throws {
        let users = (0..<50).map { ("User\($0)", PeerHost.Peer(left: "Broken")) }
        // In a library of its own, whose instances no other test makes.
        let peerHost = try PeerHost(
            Dictionary(uniqueKeysWithValues: users).merging(["Broken": .init(fails: "no"), "Counter": .init()]) { $1 },
            from: .libraries)
        let counter = try await peerHost.peer("Counter")
        let first = try counter.instance()
        for round in 1...2 {
            _ = await error { try await peerHost.host.start() }
            _ = try await peerHost.host.reset("Counter")
            // The instance that failed was one, and the new counter is another.
            #expect(try counter.instance() == first + 2 * round)
        }
        await peerHost.host.stop()
    }

    @Test func `a lazy manager starts when it is looked up or needed, and not before`() async throws {
        let peerHost = try PeerHost([
            "Eager": .init(left: "Needed"), "Needed": .init(isLazy: true),
            "Lazy": .init(number: 7, left: "LazyToo", isLazy: true), "LazyToo": .init(isLazy: true),
        ])
        try await peerHost.host.start()
        #expect(await peerHost.states() == ["Eager ready", "Lazy resolved", "LazyToo resolved", "Needed ready"])
        #expect(try await peerHost.peer("Lazy").number() == 7)
        #expect(await peerHost.states() == ["Eager ready", "Lazy ready", "LazyToo ready", "Needed ready"])
        await peerHost.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `a thousand racing look-ups make one instance`(origin: Origin) async throws {
        let peerHost = try PeerHost(["A": .init(left: "B"), "B": .init()], from: origin)
        let instances = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<1_000 { group.addTask { try await peerHost.peer("A").instance() } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(instances.count == 1)
        await peerHost.host.stop()
    }

    @Test func `a host that stops while a start is under way ends both`() async throws {
        let peerHost = try PeerHost(["A": .init(barrier: ("nobody comes", 2)), "B": .init(left: "A")])
        async let start = error { try await peerHost.host.start() }
        await eventually { await peerHost.states().first == "A starting" }
        await peerHost.host.stop()
        #expect(await start?.code == .hostStopped)
    }
}

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

/// Managers that look up managers which their wires do not name.
@Suite(.timeLimit(.minutes(5)))
struct ComponentLookUpTests {
    @Test(arguments: Origin.allCases)
    func `a manager looks another one up, in its initialiser and later, and starts it`(origin: Origin) async throws {
        let peerHost = try PeerHost(
            ["A": .init(number: 1, meets: ["B"]), "B": .init(number: 2), "C": .init(number: 3)], from: origin)
        let a = try await peerHost.peer("A")
        #expect(await peerHost.states() == ["A ready", "B ready", "C resolved"])
        #expect(try await a.met() == [2])
        #expect(try await a.ask("C") == 3)
        #expect(try await a.ask("A") == 1, "itself, too, once it is up")
        #expect(await peerHost.states() == ["A ready", "B ready", "C ready"])
        for _ in 0..<3 { _ = try await a.ask("C") }
        let wires = await peerHost.host.wires.filter { $0.user == "A" && $0.label == "C" }
        #expect(wires.count == 1, "the same wire as often as it is asked for")
        #expect(wires.allSatisfy { $0.contract == "Peers" && ($0.lane == .native) == (origin != .encoded) })
        await peerHost.host.stop()
    }

    @Test func `what there is not is an error that says so`() async throws {
        let peerHost = try PeerHost(["A": .init(), "Broken": .init(fails: "no")])
        let a = try await peerHost.peer("A")
        let unknown = await error { try await a.ask("Brokem") }
        #expect(
            unknown?.failure?.code == "manager.unknown" || unknown?.code == .unknownManager,
            "\(String(describing: unknown))")
        #expect(unknown?.message.contains("did you mean `Broken`?") == true)
        #expect(await error { try await a.ask("Broken") }?.message == "no")
        await peerHost.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `managers that look each other up while they start are told, and none hangs`(origin: Origin) async throws {
        let peerHost = try PeerHost(
            [
                "A": .init(meets: ["B"]), "B": .init(meets: ["C"]), "C": .init(meets: ["A"]),
                "Self": .init(meets: ["Self"]), "Sound": .init(),
            ], from: origin)
        let failure = await error { try await peerHost.host.start() }
        #expect(failure?.detailedDescription.contains("manager.cycle") == true)
        let cycles = await peerHost.host.managers.compactMap { status -> String? in
            guard case .failed(let error) = status.state else { return nil }
            return error.message
        }
        #expect(cycles.count == 4)
        #expect(cycles.contains { $0.contains("Self → Self") })
        #expect(cycles.contains { $0.contains("→ A →") || $0.contains("A → B → C → A") })
        #expect(await peerHost.states().last == "Sound ready")
        await peerHost.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `a look-up for a call that a manager makes while it starts does not wait for that manager`(origin: Origin)
        async throws
    {
        let peerHost = try PeerHost(
            ["A": .init(asks: ["B", "A"]), "B": .init(number: 2), "C": .init(asks: ["B", "D"]), "D": .init()],
            from: origin)
        let circle = await error { try await peerHost.peer("A") }
        #expect(circle?.detailedDescription.contains("A → A") == true, "\(String(describing: circle))")
        _ = try await peerHost.peer("C")
        #expect(await peerHost.states() == ["A failed", "B ready", "C ready", "D ready"])
        await peerHost.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `a contract is resolved to the first manager that is wanted`(origin: Origin) async throws {
        let peerHost = try PeerHost(
            ["A": .init(number: 1), "B": .init(number: 2), "OtherB": .init(number: 3), "Relay": .init(number: 4)],
            from: origin)
        let a = try await peerHost.peer("A")
        #expect(try await a.resolve("") == 1)
        #expect(try await a.resolve("B") == 2)
        #expect(try await a.resolve("rB") == 3)
        let nobody = await error { try await a.resolve("Z") }
        #expect(
            nobody?.message
                == "no manager was found that provides Peers 1.0.0; `A`, `B`, `OtherB`, `Relay` did not match the predicate"
        )
        await peerHost.host.stop()
    }

    @Test func `a manager stops after those that looked it up`() async throws {
        let peerHost = try PeerHost(["A": .init(), "B": .init(), "C": .init()])
        let a = try await peerHost.peer("A")
        _ = try await a.ask("C")
        _ = try await peerHost.peer("B").ask("A")
        await peerHost.host.stop()
        let order = peerHost.test.log.records.filter { $0.message == "stopped" }.compactMap { $0.metadata["component"] }
        #expect(order == ["B", "A", "C"])
    }
}

/// What a host tells of itself, and how it is asked for managers that are up.
@Suite(.timeLimit(.minutes(5)))
struct HostEventTests {
    private func host() throws -> PeerHost {
        try PeerHost(["A": .init(number: 1), "B": .init(number: 2, left: "A"), "Lazy": .init(number: 3, isLazy: true)])
    }

    @Test func `each change is an event, as long as the host lives`() async throws {
        let peers = try host(), events = peers.host.events
        try await peers.host.start()
        let next = ["A": PeerHost.Peer(number: 10), "C": .init(number: 3)]
        let applied = try await peers.host.apply(peers.document(next))
        let reset = try await peers.host.reset("A")
        let thrown = await error { try await peers.host.reset("Nobody") }
        let swap = await error { try await peers.host.swap(library: "nowhere") }
        await peers.host.stop()
        var kinds: [HostEvent.Kind] = [], last = 0.0
        for await event in events {
            kinds.append(event.kind)
            #expect(event.time >= last)
            last = event.time
        }
        #expect(
            kinds == [
                .started(managers: ["A", "B"]), .applied(report: applied), .reset(report: reset),
                .failed(operation: .reset, error: try #require(thrown)),
                .failed(operation: .swap, error: try #require(swap)),
            ])
    }

    @Test func `events begin where one begins to listen, and end with the host`() async throws {
        let peers = try host()
        try await peers.host.start()
        var late = peers.host.events.makeAsyncIterator()
        let change = try await peers.host.reset()
        let event = await late.next()
        #expect(event?.kind == .reset(report: change))
        await peers.host.stop()
        #expect(await late.next() == nil)
        for await _ in peers.host.events { Issue.record("an event of a host that has stopped") }
    }

    @Test func `a change of a lane is an event, the first lane is none`() async throws {
        let counters = try CounterHost(
            others: ["Client": ClientPlugin.manager("Client")], linked: [LinkedPlugin(ClientPlugin.self)])
        let coordinator = counters.host.coordinator, events = counters.host.events
        try await counters.host.start()
        let client: Remote<Clients> = try await counters.host.manager("Client")
        #expect(try await client.add(1) == 1)
        for plugin in [OtherCounters.wider, OtherCounters.wider] {
            _ = try await coordinator.announcing(
                .swap,
                { () async throws(BackplaneError) in
                    try await withTaskExecutorPreference(coordinator.executor) { () async throws(BackplaneError) in
                        try await coordinator.swap(linked: [plugin], .patient)
                    }
                }, { .swapped(report: $0) })
        }
        await counters.host.stop()
        var kinds: [String] = [], wire: WireChange?
        for await event in events {
            switch event.kind {
            case .started: kinds.append("started")
            case .swapped: kinds.append("swapped")
            case .laneChanged(let change):
                kinds.append("lane")
                wire = change
            default: kinds.append("\(event.kind)")
            }
        }
        #expect(kinds == ["started", "swapped", "lane", "swapped"])
        #expect(wire?.user == "Client" && wire?.label == "counter" && wire?.provider == "Counter")
        #expect(wire?.fromLane == "native" && wire?.toLane == "encoded" && wire?.reason?.isEmpty == false)
    }

    @Test func `a slow listener is told what it missed, and nobody waits for it`() async {
        let feed = HostEventFeed()
        var iterator = feed.listen().makeAsyncIterator()
        func send(_ numbers: Range<Int>) {
            for number in numbers { feed.send(.started(managers: ["\(number)"])) }
        }
        send(0..<1_007)
        for number in 0..<HostEventFeed.limit {
            #expect(await iterator.next()?.kind == .started(managers: ["\(number)"]))
        }
        send(1_007..<1_009)
        feed.end()
        #expect(await iterator.next()?.kind == .missed(count: 7))
        #expect(await iterator.next()?.kind == .started(managers: ["1007"]))
        #expect(await iterator.next()?.kind == .started(managers: ["1008"]))
        #expect(await iterator.next() == nil)
    }

    @Test func `providers of a contract are listed and resolved, and nothing is started`() async throws {
        let peers = try host()
        let all = await peers.host.providers(of: Peers.self)
        #expect(all.map(\.name) == ["A", "B", "Lazy"])
        #expect(all.allSatisfy { $0.className == "PeerManager" })
        #expect(await peers.states() == ["A resolved", "B resolved", "Lazy resolved"])
        let early = await error { try await peers.host.resolve(Peers.self) }
        #expect(early?.code == .unknownManager)
        #expect(early?.message.contains("not running: `A`, `B`, `Lazy`") == true)

        try await peers.host.start()
        #expect(try await peers.host.resolve(Peers.self).number() == 1)
        #expect(try await peers.host.resolve(Peers.self, where: { $0.name != "A" }).number() == 2)
        let lazy = await error { try await peers.host.resolve(Peers.self, where: { $0.name == "Lazy" }) }
        #expect(lazy?.message.contains("not running: `Lazy`") == true)
        let other = await error { try await peers.host.resolve(Trials.self) }
        #expect(other?.code == .unknownManager && other?.message.contains("not running") == false)
        #expect(await peers.states() == ["A ready", "B ready", "Lazy resolved"])
        await peers.host.stop()
    }
}

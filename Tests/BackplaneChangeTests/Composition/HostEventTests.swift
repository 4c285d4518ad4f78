import Backplane
import BackplaneTestKit
import Challenge
import TestFixtures
import Testing

@testable import BackplaneHost

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

import Backplane
import BackplaneDocuments
import BackplaneTestKit
import Challenge
import FoundationEssentials
import TestFixtures
import Testing

@testable import BackplaneHost

/// Another manifest while the host runs, and managers that are recreated.
@Suite(.timeLimit(.minutes(5)))
struct ApplyTests {
    /// Two hundred managers in chains of four, each of which uses the previous one.
    private static func chains() -> [String: PeerHost.Peer] {
        var peers: [String: PeerHost.Peer] = [:]
        for chain in 0..<50 {
            for place in 0..<4 {
                peers["C\(chain)-\(place)"] = PeerHost.Peer(
                    number: chain * 4 + place, left: place > 0 ? "C\(chain)-\(place - 1)" : nil)
            }
        }
        return peers
    }

    @Test(arguments: Origin.allCases)
    func `one number changes in a manifest of 200 managers, and exactly its manager is recreated`(origin: Origin)
        async throws
    {
        var peers = Self.chains()
        let peerHost = try PeerHost(peers, from: origin)
        try await peerHost.host.start()
        var remotes: [String: Remote<Peers>] = [:], before: [String: Int] = [:]
        for name in peers.keys {
            let remote = try await peerHost.peer(name)
            (remotes[name], before[name]) = (remote, try remote.instance())
        }

        peers["C7-1"]?.number = 1_000
        let change = try await peerHost.host.apply(peerHost.document(peers))

        #expect(change.managers.restarted == ["C7-1"])
        #expect(change.managers.kept.count == 199 && change.managers.started == [] && change.managers.stopped == [])
        for (name, remote) in remotes {
            #expect((try remote.instance() != before[name]) == change.managers.restarted.contains(name), "\(name)")
        }
        #expect(try await remotes["C7-1"]?.number() == 1_000, "what it was called by goes on to work")
        #expect(try await remotes["C7-2"]?.friends() == [1_000])
        await peerHost.host.stop()
    }

    @Test func `managers come, go and come again`() async throws {
        let peerHost = try PeerHost(["A": .init(number: 1), "B": .init(number: 2, left: "A")])
        try await peerHost.host.start()
        let a = try await peerHost.peer("A"), b = try await peerHost.peer("B")

        var change = try await peerHost.host.apply(
            peerHost.document(["A": .init(number: 1), "C": .init(number: 3, left: "A")]))
        #expect(
            change.managers.started == ["C"] && change.managers.stopped == ["B"] && change.managers.kept == ["A"]
                && change.managers.restarted == [])
        #expect(await error { try await b.number() }?.code == .unknownManager)
        #expect(await error { try await peerHost.peer("B") }?.code == .unknownManager)
        #expect(try await peerHost.peer("C").friends() == [1])

        change = try await peerHost.host.apply(peerHost.document(["A": .init(number: 1), "B": .init(number: 22)]))
        #expect(change.managers.started == ["B"] && change.managers.stopped == ["C"] && change.managers.kept == ["A"])
        #expect(try await b.number() == 22, "the same name, and what was kept of it works again")
        #expect(try await a.number() == 1)
        await peerHost.host.stop()
    }

    @Test(
        arguments: [
            ["A": PeerHost.Peer(number: 5, left: "Nobody")],
            ["A": PeerHost.Peer(number: 5, left: "B"), "B": PeerHost.Peer(left: "A")],
            [:],
        ] as [[String: PeerHost.Peer]])
    func `a bad manifest changes nothing`(bad: [String: PeerHost.Peer]) async throws {
        let peerHost = try PeerHost(["A": .init(number: 1), "B": .init(number: 2, left: "A")])
        try await peerHost.host.start()
        let a = try await peerHost.peer("A"), instance = try a.instance()
        let document = bad.isEmpty ? ManifestDocument(parsing: .init("{".utf8)) : peerHost.document(bad)
        #expect(await error { try await peerHost.host.apply(document) } != nil)
        #expect(try a.instance() == instance)
        #expect(await peerHost.states() == ["A ready", "B ready"])
        #expect(await peerHost.host.check().isEmpty)
        await peerHost.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `a manager is recreated by its name, and its users notice nothing`(origin: Origin) async throws {
        let peerHost = try PeerHost(
            ["A": .init(number: 1), "B": .init(number: 2, left: "A", meets: ["A"])], from: origin)
        try await peerHost.host.start()
        let a = try await peerHost.peer("A"), b = try await peerHost.peer("B")
        let before = (a: try a.instance(), b: try b.instance())
        for _ in 0..<3 {
            let change = try await peerHost.host.reset("A")
            #expect(change.managers.restarted == ["A"] && change.managers.kept == ["B"])
            #expect(try await b.friends() == [1], "by its wire")
            #expect(try await b.met() == [1], "by what it looked up")
        }
        #expect(try a.instance() > before.a && b.instance() == before.b)
        #expect(await peerHost.host.wires.count { $0.provider == "A" } == 3, "as many as before")
        let all = try await peerHost.host.reset()
        #expect(all.managers.restarted == ["A", "B"])
        #expect(try b.instance() > before.b)
        #expect(await error { try await peerHost.host.reset("Z") }?.code == .unknownManager)
        await peerHost.host.stop()
        #expect(await error { try await peerHost.host.reset("A") }?.code == .hostStopped)
    }

    @Test func `a library that is named for the first time is loaded, the others are not loaded again`() async throws {
        let peerHost = try PeerHost(["A": .init(number: 1)], from: .libraries)
        try await peerHost.host.start()
        let a = try await peerHost.peer("A"), instance = try a.instance()
        let manifest: ManifestValue = [
            "manifestVersion": 1, "plugins": [["library": "Clock"], ["library": "_Challenge"]],
            "managers": ["A": PeerHost.Peer(number: 1).value, "Clock": ["className": "ClockManager"]],
        ]
        let change = try await peerHost.host.apply(ManifestDocument(manifest))
        #expect(change.managers.started == ["Clock"] && change.managers.kept == ["A"])
        #expect(try a.instance() == instance)
        #expect(peerHost.test.loadFolders().count == 1)
        // A version that is expected only now is that of the library in memory.
        let expecting: ManifestValue = [
            "manifestVersion": 1,
            "plugins": [["library": "Clock"], ["library": "_Challenge", "version": "[0,99)"]],
            "managers": ["A": PeerHost.Peer(number: 1).value, "Clock": ["className": "ClockManager"]],
        ]
        #expect(try await peerHost.host.apply(ManifestDocument(expecting)).managers.kept == ["A", "Clock"])
        #expect(try a.instance() == instance)
        await peerHost.host.stop()
        #expect(peerHost.test.loadFolders() == [])
    }

    @Test func `a manifest whose new manager does not start changes nothing`() async throws {
        let peerHost = try PeerHost(["A": .init(number: 1), "B": .init(number: 2, left: "A")])
        try await peerHost.host.start()
        let a = try await peerHost.peer("A"), b = try await peerHost.peer("B")
        let failure = await error {
            try await peerHost.host.apply(
                peerHost.document(["A": .init(number: 10), "C": .init(fails: "no"), "D": .init(left: "C")]))
        }
        #expect(failure?.code == .swapFailed && failure?.message.contains("no") == true, "\(failure as Any)")
        #expect(await peerHost.states() == ["A ready", "B ready"])
        #expect(try await (a.number(), b.number()) == (1, 2))
        #expect(await error { try await peerHost.host.reset("C") }?.code == .unknownManager)
        #expect(try await peerHost.host.apply(peerHost.document(["A": .init(number: 10)])).managers.stopped == ["B"])
        #expect(try await a.number() == 10)
        await peerHost.host.stop()
    }

    @Test func `a plan says what happens to each component and why, and changes nothing`() async throws {
        let peerHost = try PeerHost(["A": .init(number: 1), "B": .init(number: 2, left: "A"), "C": .init(number: 3)])
        try await peerHost.host.start()
        let next = ["A": PeerHost.Peer(number: 10), "B": .init(number: 2, left: "A"), "D": .init(left: "A")]
        let plan = try await peerHost.host.preview(applying: peerHost.document(next))
        #expect(plan.outcome == .planned && plan.refusals == [] && plan.plugins == [])
        #expect(
            plan.components.map { "\($0.component) \($0.action): \($0.reason)" } == [
                "A recreated: its configuration has changed, and its class accepts no other while it runs",
                "D started: it is new in the manifest", "C stopped: the manifest no longer has it",
            ])
        #expect(plan.managers == ManagerChanges(started: ["D"], restarted: ["A"], stopped: ["C"], kept: ["B"]))
        #expect(await peerHost.states() == ["A ready", "B ready", "C ready"])
        let done = try await peerHost.host.apply(peerHost.document(next))
        #expect(done.outcome == .changed && done.managers == plan.managers)
        #expect(done.components.map(\.action) == plan.components.map(\.action))
        await peerHost.host.stop()
    }

    @Test func `a manifest that is refused leaves no folder behind`() async throws {
        let peerHost = try PeerHost(["A": .init(number: 1)])
        try await peerHost.host.start()
        let bad: ManifestValue = [
            "manifestVersion": 1, "plugins": [["library": "Clock"]], "managers": ["B": ["className": "Missing"]],
        ]
        for _ in 0..<3 { #expect(await error { try await peerHost.host.apply(ManifestDocument(bad)) } != nil) }
        #expect(peerHost.test.loadFolders() == [])
        await peerHost.host.stop()
        #expect(peerHost.test.loadFolders() == [])
    }
}

/// A host of peers: managers that are wired, look one another up and fail as configured.
struct PeerHost {
    /// One manager of a manifest.
    struct Peer {
        var number = 0
        var left: String?
        var right: String?
        var meets: [String] = []
        /// The manager to call when it is created, and the manager that it calls in turn.
        var asks: [String]?
        var fails: String?
        var isLazy = false
        /// The name of a barrier, and how many managers have to reach it.
        var barrier: (String, Int)?

        var value: ManifestValue {
            var configuration: [String: ManifestValue] = [
                "number": .integer(Int64(number)), "meets": .array(meets.map { .string($0) }),
            ]
            if let asks { configuration["asks"] = .array(asks.map { .string($0) }) }
            if let fails { configuration["fails"] = .string(fails) }
            if let barrier {
                configuration["barrier"] = ["name": .string(barrier.0), "count": .integer(Int64(barrier.1))]
            }
            var uses: [String: ManifestValue] = [:]
            if let left { uses["left"] = .string(left) }
            if let right { uses["right"] = .string(right) }
            var manager: [String: ManifestValue] = [
                "className": "PeerManager", "configuration": .dictionary(configuration), "uses": .dictionary(uses),
            ]
            if isLazy { manager["activation"] = "lazy" }
            return .dictionary(manager)
        }
    }

    let test: TestHost
    let libraries: [String]
    var host: PluginHost { test.host }

    init(_ peers: [String: Peer], from origin: Origin = .linked, startLimit: Duration = .seconds(60)) throws {
        libraries = origin.isLoaded ? ["_Challenge"] : []
        let text = String(decoding: Self.manifest(peers, libraries).json, as: UTF8.self)
        test = try TestHost(
            text, plugins: origin == .linked ? [ChallengePlugin.self] : [], lanes: origin.lanes, startLimit: startLimit,
            stopLimit: .seconds(60))
    }

    static func manifest(_ peers: [String: Peer], _ libraries: [String]) -> ManifestValue {
        [
            "manifestVersion": 1, "plugins": .array(libraries.map { ["library": .string($0)] }),
            "managers": .dictionary(peers.mapValues(\.value)),
        ]
    }

    func document(_ peers: [String: Peer]) -> ManifestDocument {
        ManifestDocument(Self.manifest(peers, libraries))
    }

    func peer(_ name: String) async throws(BackplaneError) -> Remote<Peers> {
        try await host.manager(name)
    }

    /// Names and states, sorted.
    func states() async -> [String] {
        await host.managers.map { "\($0.name) \($0.state)" }
    }
}

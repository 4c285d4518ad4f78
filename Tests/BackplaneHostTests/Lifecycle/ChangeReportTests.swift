import Backplane
import BackplaneDocuments
import ChallengeModule
import Testing

@testable import BackplaneHost

/// What a change says it has done, and what is told to those who kept something from before.
@Suite(.timeLimit(.minutes(5)))
struct ChangeReportTests {
    private static func manifest(_ managers: ManifestValue) -> ManifestDocument {
        ManifestDocument(["manifestVersion": 1, "plugins": [], "managers": managers])
    }

    private func host(_ managers: ManifestValue) -> (host: PluginHost, log: RecordedLog) {
        let log = RecordedLog()
        let folder = try? LoadingFixture.Folder()
        let options = HostOptions(dataFolder: (folder?.path ?? "") + "/data", log: log, occupationLimit: nil)
        return (PluginHost(manifest: Self.manifest(managers), plugins: [ChallengePlugin.self], options: options), log)
    }

    private static func layered(_ text: String) -> ManifestValue {
        [
            "className": "ChallengeManager",
            "communicationController": [
                "className": "ChallengeCommunication",
                "services": [
                    [
                        "className": "ChallengeService", "propertyName": "challengeService",
                        "networkServiceConfiguration": ["NIFServiceName": .string(text)],
                    ]
                ],
            ],
        ]
    }

    @Test func `a manager that is called as a class of layers is not taken for one`() async throws {
        let named: ManifestValue = ["className": "TrialManager"]
        let (host, _) = host(["Layered": Self.layered("One"), "ChallengeService": named])
        try await host.start()
        let change = try await host.apply(Self.manifest(["Layered": Self.layered("Two"), "ChallengeService": named]))
        #expect(
            change
                == ManifestChange(
                    before: ["Layered", "ChallengeService"], after: ["Layered", "ChallengeService"], remade: ["Layered"]
                ))
        #expect(change.kept == ["ChallengeService"])
        await host.stop()
    }

    @Test func `a layer that its manager does not ask for is up again after a change`() async throws {
        func managers(_ key: String) -> ManifestValue {
            [
                "A": [
                    "className": "TrialManager",
                    "communicationController": [
                        "className": "ChallengeCommunication", "configuration": ["note": .string(key)],
                    ],
                ]
            ]
        }
        let (host, log) = host(managers("one"))
        try await host.start()
        let change = try await host.apply(Self.manifest(managers("two")))
        #expect(change.kept == ["A"])
        let steps = log.all.filter { $0.source == "host" }.compactMap { record in
            record.metadata["component"].map { "\($0) \(record.message)" }
        }
        #expect(
            steps == [
                "ChallengeCommunication started", "A started", "ChallengeCommunication stopped",
                "ChallengeCommunication started",
            ])
        await host.stop()
    }

    @Test func `a class with another contract: callers of the old one get an error, look-ups of the new one succeed`()
        async throws
    {
        func managers(_ name: String) -> ManifestValue { ["A": ["className": .string(name)]] }
        let (host, _) = host(managers("PeerManager"))
        let old: Remote<Peers> = try await host.manager("A")
        #expect(try await old.number() == 0)
        let change = try await host.apply(Self.manifest(managers("TrialManager")))
        #expect(change.restarted == ["A"])
        let told = await error { try await old.number() }
        #expect(told?.code == .wireMismatch && told?.location == "/managers/A", "\(String(describing: told))")
        #expect(await error { try old.numberNow() }?.code == .wireMismatch)
        #expect(await error { try await host.manager("A", as: Peers.self) }?.code == .wireMismatch, "a look-up, too")
        let new: Remote<Trials> = try await host.manager("A")
        #expect(try new.path() == [])
        try await host.apply(Self.manifest(managers("PeerManager")))
        #expect(try await old.number() == 0, "and back")
        #expect(try await host.manager("A", as: Peers.self).number() == 0)
        #expect(await error { try new.path() }?.code == .wireMismatch)
        await host.stop()
    }

    @Test func `a better manifest brings up what a worse one took down, lazy or not`() async throws {
        let peerHost = try PeerHost([
            "A": .init(number: 1), "L": .init(left: "A", isLazy: true), "M": .init(left: "A", isLazy: true),
        ])
        let l = try await peerHost.peer("L")
        let worse: [String: PeerHost.Peer] = [
            "A": .init(fails: "ill"), "L": .init(left: "A", isLazy: true), "M": .init(left: "A", isLazy: true),
        ]
        _ = await error { try await peerHost.host.apply(peerHost.document(worse)) }
        #expect(await error { try await l.friends() }?.message == "`A` did not start: ill")
        let better = worse.merging(["A": .init(number: 2)]) { $1 }
        let change = try await peerHost.host.apply(peerHost.document(better))
        #expect(change.started == ["A", "L"])
        #expect(await peerHost.states() == ["A ready", "L ready", "M resolved"])
        #expect(try await l.friends() == [2])
        await peerHost.host.stop()
    }

    @Test func `a reset brings up what could not start for want of it, lazy or not`() async throws {
        let flag = Latch()
        let ill = Script(made: { _ in if flag.arrived == 1 { throw BackplaneError(.componentFailed, "ill") } })
        let test = try ScriptedPlugin.host([
            "A": .init(script: ill), "L": .init(left: "A", isLazy: true), "Other": .init(isLazy: true),
        ])
        let l: Remote<Scripted> = try await test.host.manager("L")
        flag.open()
        await flag.pass()
        _ = await error { try await test.host.reset() }
        #expect(await error { try await l.act("") }?.message == "`A` did not start: ill")
        await flag.pass()
        #expect(try await test.host.reset("A").started == ["A", "L"])
        #expect(try await l.act("again") == "again")
        await test.host.stop()
    }

    @Test func `a caller of a failed manager that was removed from the manifest gets that error`() async throws {
        let peerHost = try PeerHost(["A": .init(number: 1), "B": .init()])
        let a = try await peerHost.peer("A")
        _ = await error { try await peerHost.host.apply(peerHost.document(["A": .init(fails: "ill"), "B": .init()])) }
        #expect(await error { try await a.number() }?.message == "ill")
        try await peerHost.host.apply(peerHost.document(["B": .init()]))
        #expect(await error { try await a.number() }?.code == .unknownManager)
        await peerHost.host.stop()
    }

    @Test func `a manifest that is refused leaves no folder behind`() async throws {
        let peerHost = try PeerHost(["A": .init(number: 1)])
        try await peerHost.host.start()
        let bad: ManifestValue = [
            "manifestVersion": 1, "plugins": [["library": "_Timepiece"]], "managers": ["B": ["className": "Missing"]],
        ]
        for _ in 0..<3 { #expect(await error { try await peerHost.host.apply(ManifestDocument(bad)) } != nil) }
        #expect(peerHost.test.loadFolders() == [])
        await peerHost.host.stop()
        #expect(peerHost.test.loadFolders() == [])
    }

    @Test func `the folder that a refused swap has created outlives a refused manifest`() async throws {
        let peerHost = try PeerHost(["A": .init(number: 1)]), host = peerHost.host
        try await host.start()
        func document(_ clock: ManifestValue) -> ManifestDocument {
            ManifestDocument([
                "manifestVersion": 1, "plugins": [["library": "_Timepiece"]],
                "managers": ["A": PeerHost.Peer(number: 1).value, "Clock": clock],
            ])
        }
        #expect(await error { try await host.swap(library: "_Timepiece") } != nil)
        #expect(await error { try await host.apply(document(["className": "Missing"])) } != nil)
        let change = try await host.apply(document(["className": "Timepiece"]))
        #expect(change.started == ["Clock"])
        await host.stop()
        #expect(peerHost.test.loadFolders() == [])
    }

    @Test func `the libraries of a refused manifest are among the generations`() async throws {
        let peerHost = try PeerHost(["A": .init(number: 1)]), host = peerHost.host
        try await host.start()
        let bad: ManifestValue = [
            "manifestVersion": 1, "plugins": [["library": "_Timepiece"]], "managers": ["B": ["className": "Missing"]],
        ]
        #expect(await error { try await host.apply(ManifestDocument(bad)) } != nil)
        let generations = try await host.generations()
        #expect(generations.filter { $0.library?.contains("Timepiece") == true }.map(\.state) == [.failed])
        await host.stop()
    }

    @Test func `a start during an apply starts the new managers, too`() async throws {
        for _ in 0..<20 {
            let peerHost = try PeerHost(["A": .init()])
            async let start: Void? = try? peerHost.host.start()
            let change = try await peerHost.host.apply(peerHost.document(["A": .init(), "B": .init()]))
            _ = await start
            #expect(await peerHost.states() == ["A ready", "B ready"], "\(change)")
            await peerHost.host.stop()
        }
    }
}

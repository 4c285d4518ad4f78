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

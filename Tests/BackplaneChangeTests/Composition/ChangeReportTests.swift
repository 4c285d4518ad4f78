import Backplane
import BackplaneDocuments
import BackplaneTestKit
import Challenge
import TestFixtures
import Testing

@testable import BackplaneHost

/// What a change says it has done, and what is told to those who kept something from before.
@Suite(.timeLimit(.minutes(5)))
struct ChangeReportTests {
    private static func manifest(_ managers: ManifestValue) -> ManifestDocument {
        ManifestDocument(["manifestVersion": 1, "plugins": [], "managers": managers])
    }

    private func host(_ managers: ManifestValue) -> (host: PluginHost, log: TestLog) {
        let log = TestLog()
        let folder = try? TestFolder()
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
        #expect(change.managers.kept == ["A"])
        await eventually {
            let steps = log.records.filter { $0.source == "host" }.compactMap { record in
                record.metadata["component"].map { "\($0) \(record.message)" }
            }
            return steps == [
                "ChallengeCommunication started", "A started", "ChallengeCommunication started",
                "ChallengeCommunication stopped",
            ]
        }
        await host.stop()
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

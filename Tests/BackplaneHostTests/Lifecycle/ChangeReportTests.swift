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

    @Test func `a class with another contract: who calls by the old one is told, who looks up the new one is served`()
        async throws
    {
        func managers(_ name: String) -> ManifestValue { ["A": ["className": .string(name)]] }
        let (host, _) = host(managers("CitizenManager"))
        let old: Remote<Citizens> = try await host.manager("A")
        #expect(try await old.number() == 0)
        let change = try await host.apply(Self.manifest(managers("TrialManager")))
        #expect(change.restarted == ["A"])
        let told = await error { try await old.number() }
        #expect(told?.code == .wireMismatch && told?.location == "/managers/A", "\(String(describing: told))")
        #expect(await error { try old.numberNow() }?.code == .wireMismatch)
        #expect(await error { try await host.manager("A", as: Citizens.self) }?.code == .wireMismatch, "a look-up, too")
        let new: Remote<Trials> = try await host.manager("A")
        #expect(try new.path() == [])
        try await host.apply(Self.manifest(managers("CitizenManager")))
        #expect(try await old.number() == 0, "and back")
        #expect(try await host.manager("A", as: Citizens.self).number() == 0)
        #expect(await error { try new.path() }?.code == .wireMismatch)
        await host.stop()
    }

    @Test func `a better manifest brings up what a worse one took down, lazy or not`() async throws {
        let society = try Society([
            "A": .init(number: 1), "L": .init(left: "A", isLazy: true), "M": .init(left: "A", isLazy: true),
        ])
        let l = try await society.citizen("L")
        let worse: [String: Society.Citizen] = [
            "A": .init(fails: "ill"), "L": .init(left: "A", isLazy: true), "M": .init(left: "A", isLazy: true),
        ]
        _ = await error { try await society.host.apply(society.document(worse)) }
        #expect(await error { try await l.friends() }?.message == "`A` did not start: ill")
        let better = worse.merging(["A": .init(number: 2)]) { $1 }
        let change = try await society.host.apply(society.document(better))
        #expect(change.started == ["A", "L"])
        #expect(await society.states() == ["A ready", "L ready", "M resolved"])
        #expect(try await l.friends() == [2])
        await society.host.stop()
    }

    @Test func `a reset brings up what could not start for want of it, lazy or not`() async throws {
        let flag = Turnstile()
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

    @Test func `of what failed and was taken out of the manifest a caller is told that`() async throws {
        let society = try Society(["A": .init(number: 1), "B": .init()])
        let a = try await society.citizen("A")
        _ = await error { try await society.host.apply(society.document(["A": .init(fails: "ill"), "B": .init()])) }
        #expect(await error { try await a.number() }?.message == "ill")
        try await society.host.apply(society.document(["B": .init()]))
        #expect(await error { try await a.number() }?.code == .unknownManager)
        await society.host.stop()
    }

    @Test func `a manifest that is refused leaves no folder behind`() async throws {
        let society = try Society(["A": .init(number: 1)])
        try await society.host.start()
        let bad: ManifestValue = [
            "manifestVersion": 1, "plugins": [["library": "_Timepiece"]], "managers": ["B": ["className": "Missing"]],
        ]
        for _ in 0..<3 { #expect(await error { try await society.host.apply(ManifestDocument(bad)) } != nil) }
        #expect(society.test.loadFolders() == [])
        await society.host.stop()
        #expect(society.test.loadFolders() == [])
    }

    @Test func `who starts when a manifest is applied at the same time starts its new managers too`() async throws {
        for _ in 0..<20 {
            let society = try Society(["A": .init()])
            async let start: Void? = try? society.host.start()
            let change = try await society.host.apply(society.document(["A": .init(), "B": .init()]))
            _ = await start
            #expect(await society.states() == ["A ready", "B ready"], "\(change)")
            await society.host.stop()
        }
    }
}

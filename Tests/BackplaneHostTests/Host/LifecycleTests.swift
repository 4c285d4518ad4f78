import Backplane
import BackplaneTestKit
import Challenge
import FoundationEssentials
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// In which order components come and go, by what they write to the log themselves.
@Suite(.timeLimit(.minutes(10)))
struct LifecycleTests {
    private static let managers = """
        "Layered": {"className": "ChallengeManager",
          "dataAccessController": {"className": "ChallengeDataAccess"},
          "communicationController": {"className": "ChallengeCommunication", "services": [
            {"className": "ChallengeService", "propertyName": "secondService", "networkServiceConfiguration": {"NIFServiceName": "Two"}},
            {"className": "ChallengeService", "propertyName": "challengeService", "networkServiceConfiguration": {"NIFServiceName": "One"}}]}}
        """

    @Test(arguments: Origin.allCases)
    func `layers start from the data access controller up to the manager, and stop the other way round`(origin: Origin)
        async throws
    {
        let test = try TestHost(managers: Self.managers, from: origin)
        try await test.host.start()
        let up = ["ChallengeDataAccess", "ChallengeService", "ChallengeService", "ChallengeCommunication", "Layered"]
        #expect(test.log.lines == up.flatMap { ["\($0) init", "\($0) activate"] })

        let manager: Remote<Challenge> = try await test.host.manager("Layered")
        #expect(
            try manager.atStart().services == ["One", "Two"],
            "every collaborator was there when the manager was initialised")
        await test.host.stop()

        #expect(test.log.lines.dropFirst(2 * up.count) == up.reversed().map { "\($0) stop" }[...])
    }

    @Test func `components stop while their libraries still lie in the load folder, which then goes; data stays`()
        async throws
    {
        let folder = try TestFolder()
        let seen = Mutex<[Bool]>([])
        let log = TestLog { record in
            guard record.message == "stop" else { return }
            let isThere = (try? FileTree.names(in: folder.path + "/loads"))?.contains { $0.hasPrefix("host-") }
            seen.withLock { $0.append(isThere == true) }
        }
        let test = try TestHost(
            #"{"manifestVersion": 1, "plugins": [{"library": "_Challenge"}], "managers": {\#(Self.managers)}}"#,
            in: folder, log: log)
        try await test.host.start()
        #expect(test.loadFolders().count == 1)
        let data = try FileTree.names(in: test.data)

        await test.host.stop()

        #expect(seen.withLock { $0 } == Array(repeating: true, count: 5))
        #expect(test.loadFolders() == [])
        #expect(try FileTree.names(in: test.data) == data && data.count == 1)
        #expect(try Set(FileTree.names(in: FilePath.join(test.data, data[0]))) == ["@store", "ChallengeDataAccess"])
    }
}

/// A start that leaves out what cannot be started.
@Suite(.timeLimit(.minutes(10)))
struct KeepGoingTests {
    private let managers = #"""
        "Broken": {"className": "NoSuchClass"}, "Sound": {"className": "TrialManager"},
        "Refusing": {"className": "TrialManager", "configuration": {"refusesToStart": true}}, "Behind": {"className": "RelayManager", "uses": {"trials": "Refusing"}},
        "Beside": {"className": "RelayManager", "uses": {"trials": "Sound"}},
        "Portless": {"className": "TrialManager", "configuration": {"refusesToActivate": true}}
        """#

    /// What a trial manager throws when it is made or activated.
    private static func refusal(_ text: String, of name: String) -> BackplaneError {
        BackplaneError(
            .componentFailed, text, at: "/managers/\(name)",
            failure: BackplaneError.Failure(code: "trial.trouble", details: ["length": "\(text.count)"]))
    }

    @Test(arguments: Origin.allCases)
    func `What is sound comes up, and every other manager says why it did not`(origin: Origin) async throws {
        let test = try TestHost(managers: managers, from: origin)
        try await test.host.start(keepGoing: true)
        let states = Dictionary(uniqueKeysWithValues: await test.host.managers.map { ($0.name, $0.state) })
        #expect(
            states.mapValues(\.description) == [
                "Broken": "unsatisfied", "Sound": "ready", "Beside": "ready", "Refusing": "failed",
                "Behind": "unsatisfied", "Portless": "failed",
            ])
        let refusal = Self.refusal("not today", of: "Refusing")
        #expect(
            states["Refusing"] == .failed(refusal)
                && states["Portless"] == .failed(Self.refusal("no port", of: "Portless")))
        #expect(await error { try await test.host.manager("Refusing", as: Trials.self) } == refusal)
        guard case .unsatisfied(let error) = states["Behind"] else { return await test.host.stop() }
        #expect(error.causes == [refusal])
        await test.host.stop()
    }
}

@Suite(.timeLimit(.minutes(10)))
struct LookUpTests {
    private static let managers = """
        "Sound": {"className": "ChallengeManager", "dataAccessController": {"className": "ChallengeDataAccess"}},
        "Trial": {"className": "TrialManager"},
        "Clock": {"className": "Timepiece"},
        "Faulty": {"className": "TrialManager", "dataAccessController": {"className": "NoSuchClass"}},
        "Unwired": {"className": "RelayManager"}
        """

    @Test(arguments: Origin.allCases)
    func `each manager answers by its own contract, and a look-up starts only what it needs`(origin: Origin)
        async throws
    {
        let test = try TestHost(managers: Self.managers, from: origin)
        let trials = try await test.host.manager("Trial", as: Trials.self)
        let clock = try await test.host.manager("Clock", as: WallTime.self)
        #expect(try trials.path() == [])
        #expect(try await clock.echo("x") == "x")
        #expect(await test.host.managers.filter { $0.state == .ready }.map(\.name) == ["Clock", "Trial"])
        await test.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `a manager that provides another contract is a mismatch that names both`(origin: Origin) async throws {
        let test = try TestHost(managers: Self.managers, from: origin)
        let mismatch = await error { try await test.host.manager("Trial", as: WallTime.self) }
        #expect(mismatch?.code == .wireMismatch)
        #expect(mismatch?.location == "/managers/Trial")
        #expect(
            mismatch?.message
                == "`WallTime` 1.0.0 was requested of Trial, but `TrialManager` 1.4.0 of plugin `org.backplane.tests.challenge` provides `Trials` 2.1.0"
        )
        #expect(
            try await test.host.manager("Trial", as: Trials.self).path() == [],
            "the right contract is served all the same")
        await test.host.stop()
    }

    @Test func `a contract with more in it than methods is refused before a call could reach another method`()
        async throws
    {
        struct Trials: Contract {
            static let version: Version = "2.1.0"
            let limit = 3
            let path = SyncMethod<Nothing, [UInt16]>()
        }
        let test = try TestHost(managers: Self.managers, from: .libraries)
        let mismatch = await error { try await test.host.manager("Trial", as: Trials.self) }
        #expect(mismatch?.code == .wireMismatch)
        #expect(
            mismatch?.message
                == "Trials.limit is not an AsyncMethod, a SyncMethod or a StreamMethod; a contract has no other stored properties"
        )
        await test.host.stop()
    }

    @Test func `starting everything refuses with all errors before anything starts`() async throws {
        let test = try TestHost(managers: Self.managers, from: .libraries)
        let error = await error { try await test.host.start() }
        #expect(Set(error?.causes.map(\.code) ?? []) == [.unknownClass, .wireUnsatisfied])
        #expect(test.log.lines == [])
        await test.host.stop()
    }
}

/// Hosts share a process and nothing else.
@Suite(.timeLimit(.minutes(10)))
struct ManyHostsTests {
    private static let manifest = """
        {"manifestVersion": 1, "plugins": [{"library": "_Challenge"}, {"library": "Clock"}],
         "managers": {"Trial": {"className": "TrialManager"}, "Clock": {"className": "ClockManager"}}}
        """

    @Test func `a host that is dropped without being stopped leaves a folder that the next removes`() async throws {
        let folder = try TestFolder()
        do {
            let dropped = try TestHost(Self.manifest, in: folder)
            let trials: Remote<Trials> = try await dropped.host.manager("Trial")
            #expect(try trials.path() == [])
        }
        // The host's threads let go of its lock when they end.
        try await eventually {
            let next = try TestHost(Self.manifest, in: folder)
            _ = await next.host.managers
            let count = next.loadFolders().count
            await next.host.stop()
            return count == 1
        }
    }

    @Test(arguments: Origin.allCases)
    func `two hosts at once do not disturb each other`(origin: Origin) async throws {
        let (one, two) = try (
            TestHost(managers: CallErrorTests.managers, from: origin),
            TestHost(managers: CallErrorTests.managers, from: origin)
        )
        let (first, second): (Remote<Trials>, Remote<Trials>) = try await (
            one.host.manager("Trial"), two.host.manager("Trial")
        )
        let waiting = Task { try await first.wait(3_600) }
        waiting.cancel()
        #expect(await error { try await waiting.value }?.code == .callCancelled)
        try await eventually { try first.cancellations() == 1 }
        #expect(try second.cancellations() == 0)

        let relay: Remote<Relay> = try await two.host.manager("Relay")
        await one.host.stop()
        #expect(await error { try first.cancellations() }?.code == .callRetired)
        #expect(try second.cancellations() == 0)
        #expect(try await relay.path().count == 1)
        await two.host.stop()
    }
}

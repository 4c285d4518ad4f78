import Backplane
import BackplaneTestKit
import Challenge
import TestFixtures
import Testing

@testable import BackplaneHost

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
    func `a thousand look-ups at once make one instance`(origin: Origin) async throws {
        let test = try TestHost(managers: Self.managers, from: origin)
        let host = test.host
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<1_000 {
                group.addTask { @concurrent in
                    let manager: Remote<Challenge> = try await host.manager("Sound")
                    #expect(
                        try await manager.surroundings() == Surroundings(dataAccessController: "ChallengeDataAccess"))
                }
            }
            try await group.waitForAll()
        }
        #expect(
            test.log.lines == [
                "ChallengeDataAccess init", "ChallengeDataAccess activate", "Sound init", "Sound activate",
            ])
        await host.stop()
    }

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

    @Test func `a later version of the contract than the manager provides is a mismatch`() async throws {
        struct Trials: Contract {
            static let version: Version = "2.2.0"
            let path = SyncMethod<Nothing, [UInt16]>()
        }
        let test = try TestHost(managers: Self.managers, from: .linked)
        let mismatch = await error { try await test.host.manager("Trial", as: Trials.self) }
        #expect(mismatch?.code == .wireMismatch)
        #expect(
            mismatch?.message.contains("`Trials` 2.2.0") == true
                && mismatch?.message.contains("2.1.0, an earlier version") == true)
        await test.host.stop()
    }

    @Test func `an earlier version with fewer methods is served`() async throws {
        struct Trials: Contract {
            static let version: Version = "2.0.0"
            let path = SyncMethod<Nothing, [UInt16]>()
        }
        let test = try TestHost(managers: Self.managers, from: .libraries)
        #expect(try await test.host.manager("Trial", as: Trials.self).path() == [])
        await test.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `an unknown manager is an error that says which there are`(origin: Origin) async throws {
        let test = try TestHost(managers: Self.managers, from: origin)
        for unknown in [
            await error { try await test.host.manager("Trail", as: Trials.self) },
            await error { try await test.call("Trail", "path") },
        ] {
            #expect(unknown?.code == .unknownManager)
            #expect(unknown?.message.contains("`Trail`") == true && unknown?.message.contains("`Trial`") == true)
        }
        await test.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `a faulty manager throws its located error and the others work`(origin: Origin) async throws {
        let test = try TestHost(managers: Self.managers, from: origin)
        let faulty = await error { try await test.host.manager("Faulty", as: Trials.self) }
        #expect(faulty?.code == .unknownClass)
        #expect(faulty?.location == "/managers/Faulty/dataAccessController/className")
        let unwired = await error { try await test.host.manager("Unwired", as: Relay.self) }
        #expect(unwired?.code == .wireUnsatisfied)
        #expect(unwired?.location?.hasPrefix("/managers/Unwired") == true)

        #expect(
            try await test.host.manager("Sound", as: Challenge.self).surroundings().dataAccessController
                == "ChallengeDataAccess")
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

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

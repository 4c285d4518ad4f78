import Backplane
import BackplaneTestKit
import Challenge
import TestFixtures
import Testing

@testable import BackplaneHost

/// Components that do not come up: a located error, and everybody else can be used.
@Suite(.timeLimit(.minutes(10)))
struct StartFailureTests {
    private static let managers = """
        "Refuses": {"className": "TrialManager", "configuration": {"refusesToStart": true}},
        "Portless": {"className": "TrialManager", "configuration": {"refusesToActivate": true}},
        "Wrong": {"className": "TrialManager", "configuration": {"refusesToStart": "yes"}},
        "User": {"className": "RelayManager", "uses": {"trials": "Refuses"}},
        "Sound": {"className": "TrialManager"}
        """

    @Test(arguments: Origin.allCases)
    func `a component that refuses to start says so itself`(origin: Origin) async throws {
        let test = try TestHost(managers: Self.managers, from: origin)
        for (name, text) in [("Refuses", "not today"), ("Portless", "no port")] {
            let expected = BackplaneError(
                .componentFailed, text, at: "/managers/\(name)",
                failure: BackplaneError.Failure(code: "trial.trouble", details: ["length": "\(text.count)"]))
            #expect(await error { try await test.host.manager(name, as: Trials.self) } == expected)
            #expect(await test.host.managers.first { $0.name == name }?.state == .failed(expected))
        }
        #expect(try await test.host.manager("Sound", as: Trials.self).path() == [])
        await test.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `a configuration that does not fit is located in the manifest`(origin: Origin) async throws {
        let test = try TestHost(managers: Self.managers, from: origin)
        let error = await error { try await test.host.manager("Wrong", as: Trials.self) }
        #expect(error?.code == .configurationInvalid)
        #expect(error?.location == "/managers/Wrong/configuration/refusesToStart")
        await test.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `a user of a failed component is not started, and the error says why that failed`(origin: Origin) async throws
    {
        let test = try TestHost(managers: Self.managers, from: origin)
        let error = await error { try await test.host.manager("User", as: Relay.self) }
        #expect(error?.code == .dependencyUnsatisfied)
        #expect(error?.location == "/managers/User/uses/trials")
        #expect(error?.message == "`Refuses` did not start: not today")
        #expect(error?.causes.map(\.location) == ["/managers/Refuses"])
        #expect(error?.causes.first?.failure?.code == "trial.trouble")
        #expect(await test.host.managers.first { $0.name == "User" }?.state == error.map(ManagerState.unsatisfied))
        await test.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `a failure leaves everything up that does not depend on it, and is reported once`(origin: Origin) async throws
    {
        let test = try TestHost(
            managers: #"""
                "A": {"className": "TrialManager", "configuration": {"refusesToStart": true}}, "B": {"className": "TrialManager"},
                "C": {"className": "RelayManager", "uses": {"trials": "A"}}, "D": {"className": "RelayManager", "uses": {"trials": "A"}}
                """#, from: origin)
        #expect(await error { try await test.host.start() }?.location == "/managers/A")
        #expect(await test.host.managers.map(\.state.description) == ["failed", "ready", "unsatisfied", "unsatisfied"])
        try await test.host.start(keepGoing: true)
        await test.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `a component that never starts fails at the limit`(origin: Origin) async throws {
        let test = try TestHost(
            managers:
                #""Sleeper": {"className": "TrialManager", "configuration": {"neverStarts": true}}, "Sound": {"className": "ChallengeManager"}"#,
            from: origin, startLimit: .milliseconds(50))
        let error = await error {
            try await test.expiring(.milliseconds(50)) { try await test.host.manager("Sleeper", as: Trials.self) }
        }
        #expect(error?.code == .callDeadline)
        #expect(error?.location == "/managers/Sleeper")
        #expect(error?.message.contains("Sleeper took longer than") == true)
        #expect(await test.host.managers.map(\.state.description) == ["failed", "resolved"])
        await test.host.stop()
    }

    @Test func `what failed is tried again by the next look-up`() async throws {
        let test = try TestHost(managers: Self.managers, from: .linked)
        for _ in 0..<3 {
            #expect(await error { try await test.host.manager("Refuses", as: Trials.self) }?.message == "not today")
        }
        await test.host.stop()
    }
}

import Backplane
import ChallengeModule
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
    func `who uses one that failed is not started, and the error is that one's`(origin: Origin) async throws {
        let test = try TestHost(managers: Self.managers, from: origin)
        let error = await error { try await test.host.manager("User", as: Relay.self) }
        #expect(error?.location == "/managers/Refuses")
        #expect(error?.failure?.code == "trial.trouble")
        await test.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `starting everything stops at the first that fails, those before it being up`(origin: Origin) async throws {
        let test = try TestHost(managers: #""A": {"className": "TrialManager"}, "B": {"className": "TrialManager", "configuration": {"refusesToStart": true}}"#, from: origin)
        #expect(await error { try await test.host.start() }?.location == "/managers/B")
        #expect(await test.host.managers.map(\.state.description) == ["ready", "failed"])
        await test.host.stop()
    }

    @Test(arguments: Origin.allCases)
    func `one that never starts is given up at the limit`(origin: Origin) async throws {
        let test = try TestHost(
            managers: #""Sleeper": {"className": "TrialManager", "configuration": {"neverStarts": true}}, "Sound": {"className": "ChallengeManager"}"#,
            from: origin, startLimit: .milliseconds(50))
        let error = await error { try await test.host.manager("Sleeper", as: Trials.self) }
        #expect(error?.code == .callDeadline)
        #expect(error?.location == "/managers/Sleeper")
        #expect(error?.message.contains("Sleeper took longer than") == true)
        #expect(await test.host.managers.map(\.state.description) == ["failed", "resolved"])
        await test.host.stop()
    }

    @Test func `what failed is tried again by the next who asks`() async throws {
        let test = try TestHost(managers: Self.managers, from: .linked)
        for _ in 0..<3 { #expect(await error { try await test.host.manager("Refuses", as: Trials.self) }?.message == "not today") }
        await test.host.stop()
    }
}

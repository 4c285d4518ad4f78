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
}

import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// A start that leaves out what cannot be started.
@Suite(.timeLimit(.minutes(10)))
struct KeepGoingTests {
    private let managers = #"""
        "Broken": {"className": "NoSuchClass"}, "Sound": {"className": "TrialManager"},
        "Refusing": {"className": "TrialManager", "configuration": {"refusesToStart": true}}, "Behind": {"className": "RelayManager", "uses": {"trials": "Refusing"}},
        "Beside": {"className": "RelayManager", "uses": {"trials": "Sound"}}
        """#

    @Test(arguments: [Origin.libraries, .linked])
    func `What is sound comes up, and every other manager says why it did not`(origin: Origin) async throws {
        let test = try TestHost(managers: managers, from: origin)
        try await test.host.start(keepGoing: true)
        let states = Dictionary(uniqueKeysWithValues: await test.host.managers.map { ($0.name, $0.state) })
        #expect(
            states.mapValues(\.description) == [
                "Broken": "unsatisfied", "Sound": "ready", "Beside": "ready", "Refusing": "failed",
                "Behind": "unsatisfied",
            ])
        guard case .failed(let refusal) = states["Refusing"], case .unsatisfied(let error) = states["Behind"] else {
            return await test.host.stop()
        }
        #expect(refusal.failure?.code == "trial.trouble" && refusal.location == "/managers/Refusing")
        #expect(error.causes == [refusal])
        await test.host.stop()
    }
}

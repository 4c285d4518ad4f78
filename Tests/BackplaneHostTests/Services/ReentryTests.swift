import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// Answers that lead back into the component before `done` has returned, on its own thread.
@Suite(.timeLimit(.minutes(5)))
struct ReentryTests {
    @Test func `done may call the component again before it returns, and the payload of a step is ignored`()
        async throws
    {
        let test = try TestHost(
            #"""
            {"manifestVersion": 1, "plugins": [{"library": "_Challenge"}, {"library": "FixturesInC"}],
             "managers": {"Trials": {"className": "TrialManager"}, "Deep": {"className": "Deep", "uses": {"trials": "Trials"}},
                          "Again": {"className": "Again", "uses": {"deep": "Deep"}}}}
            """#,
            pluginPaths: [BuiltProducts.folder])
        #expect(try await test.call("Deep", "depth") == "1")
        #expect(try await test.call("Again", "again") == "5", "each call came inside the answer of the one before")
        let deep = try await test.host.coordinator.running("Deep")
        try await deep.instance.checkHealth { _ in }
        await test.host.stop()
        #expect(test.log.records.allSatisfy { $0.level < .warning })
    }
}

import TestFixtures
import Backplane
import BackplaneTestKit

/// A plugin in C that calls a collaborator through `backplane.calls/1`, and asks for what its role may not have.
enum CallerPlugin {
    /// A host with the manager `Caller`, wired to the tests' trial manager.
    static func host(stopLimit: Duration = .seconds(10)) throws -> TestHost {
        try TestHost(
            #"""
            {"manifestVersion": 1, "plugins": [{"library": "_Challenge"}, {"library": "FixturesInC"}],
             "managers": {"Trials": {"className": "TrialManager"}, "Caller": {"className": "Caller", "uses": {"trials": "Trials"}}}}
            """#,
            pluginPaths: [TestHost.libraries], stopLimit: stopLimit)
    }
}

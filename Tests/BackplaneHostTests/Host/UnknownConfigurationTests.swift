import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// What a component's configuration has and its type does not know.
@Suite(.timeLimit(.minutes(5)))
struct UnknownConfigurationTests {
    @Test(arguments: Origin.allCases) func `an unknown key is a warning in the log, and the component starts`(
        origin: Origin
    ) async throws {
        let test = try TestHost(
            managers: #""Trials": {"className": "TrialManager", "configuration": {"refusesToStrat": true}}"#,
            from: origin)
        #expect(try await test.call("Trials", "cancellations") == "0")
        let warning = test.log.records.first { $0.level == .warning }
        #expect(warning?.source == "Trials")
        #expect(warning?.metadata == ["key": "/refusesToStrat"])
        await test.host.stop()
    }
}

import Backplane
import Challenge
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// A host of a manifest with an environment: its components get what that says, and their errors are located there.
@Suite(.timeLimit(.minutes(5)))
struct ChosenEnvironmentTests {
    private static let text = """
        {
          "manifestVersion": 1, "plugins": [],
          "managers": { "Trials": { "className": "TrialManager", "configuration": { "refusesToStart": true } } },
          "environments": {
            "well": { "managers": { "Trials": { "configuration": { "refusesToStart": false } } } },
            "wrong": { "managers": { "Trials": { "configuration": { "refusesToStart": "${ANSWER}" } } } },
            "new": { "managers": { "Trials": null, "Other": { "className": "${CLASS}" } } }
          }
        }
        """

    private func host(_ environment: String?) -> PluginHost {
        let document = ManifestDocument(parsing: Data(Self.text.utf8), environment: environment) {
            ["ANSWER": "swordfish", "CLASS": "TrialManager"][$0]
        }
        return PluginHost(manifest: document, plugins: [ChallengePlugin.self])
    }

    @Test func `components get the configuration of the environment`() async throws {
        let plain = host(nil), well = host("well")
        #expect(await error { try await plain.manager("Trials", as: Trials.self) }?.location == "/managers/Trials")
        #expect(try await well.manager("Trials", as: Trials.self).path() == [])
        await plain.stop()
        await well.stop()
    }

    @Test func `a configuration that does not fit is located in the environment, without the variable's value`() async {
        let wrong = host("wrong")
        let error = await error { try await wrong.manager("Trials", as: Trials.self) }
        #expect(error?.code == .configurationInvalid)
        #expect(error?.location == "/environments/wrong/managers/Trials/configuration/refusesToStart")
        #expect(error?.detailedDescription.contains("swordfish") == false)
        await wrong.stop()
    }

    @Test func `managers of the environment are there, and those it takes away are not`() async throws {
        let new = host("new")
        #expect(try await new.manager("Other", as: Trials.self).path() == [])
        #expect(await error { try await new.manager("Trials", as: Trials.self) }?.code == .unknownManager)
        await new.stop()
    }

    @Test func `a check warns of what other environments would cause`() async {
        let document = ManifestDocument([
            "manifestVersion": 1, "plugins": [], "managers": ["Trials": ["className": "TrialManager"]],
            "environments": ["other": ["managers": ["Trials": ["className": 5]]]],
        ])
        #expect(document.problems == [])
        let host = PluginHost(manifest: document, plugins: [ChallengePlugin.self])
        let problems = await host.check()
        #expect(problems.map(\.error.location) == ["/environments/other/managers/Trials/className"])
        #expect(problems.map(\.severity) == [.warning])
        await host.stop()
    }

    @Test func `of an environment that is not there nothing can be used`() async {
        let none = host("none")
        #expect(await error { try await none.manager("Trials", as: Trials.self) }?.code == .manifestUnknownEnvironment)
        await none.stop()
    }
}

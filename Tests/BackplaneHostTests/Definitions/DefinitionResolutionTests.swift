import Backplane
import BackplaneDefinitions
import BackplaneNetwork
import TestFixtures
import Testing

@testable import BackplaneHost

/// Mistakes of a definition and its contract, which are found before anything starts.
@Suite(.timeLimit(.minutes(5)))
struct DefinitionResolutionTests {
    private func problems(
        _ definition: String = PharmacyHost.definition, _ configuration: String = #""contract": "Pharmacies""#,
        manager: String = "PharmacyManager", controller: String = "PharmacyCommunication",
        baseURL: String = "https://health.example.org"
    ) async throws -> [Problem] {
        let test = try PharmacyHost(
            definition, configuration, manager: manager, controller: controller, baseURL: baseURL)
        let problems = await test.host.check()
        await test.host.stop()
        return problems
    }

    private static let service = "/managers/Pharmacies/communicationController/services/0"

    @Test func `a method that the definition lacks is a warning`() async throws {
        let problems = try await problems()
        #expect(problems.map(\.severity) == [.warning])
        #expect(problems[0].error.code == .callUnimplemented)
        #expect(problems[0].error.message.contains("without `forget`"))
    }

    @Test func `a contract that no wire declares is an error, and so is a missing one`() async throws {
        var problems = try await problems(PharmacyHost.definition, #""contract": "Parmacies""#)
        #expect(problems.map(\.error.code) == [.wireMismatch])
        #expect(problems[0].error.location == Self.service + "/networkServiceConfiguration/contract")
        #expect(problems[0].error.message.contains("declares `Pharmacies`"))
        problems = try await self.problems(PharmacyHost.definition, #""definition": ".""#)
        #expect(problems.map(\.error.code) == [.wireMismatch])
        #expect(problems[0].error.message.contains(#"add `"contract": "Pharmacies"`"#))
        problems = try await self.problems(
            PharmacyHost.definition, #""contract": "Pharmacies""#, manager: "NamedPharmacyManager",
            controller: "NamedPharmacyCommunication")
        #expect(problems.map(\.error.code) == [.wireMismatch])
    }

    @Test func `every mistake of the file is listed, with its place in it`() async throws {
        let problems = try await problems(
            """
            {
              "search": {"request": {"path": 7}},
              "rate": {"requests": {}}
            }
            """)
        let errors = problems.filter { $0.severity == .error }.map(\.error)
        #expect(
            errors.map(\.code).sorted { $0.rawValue < $1.rawValue } == [.definitionMissingKey, .definitionWrongType])
        #expect(errors.allSatisfy { $0.location?.contains(/Pharmacies\.json:[0-9]+:[0-9]+: \/(search|rate)/) == true })
    }

    @Test func `a missing file, a wrong base URL and wrong keys are errors at their places`() async throws {
        var problems = try await problems(
            PharmacyHost.definition, #""contract": "Pharmacies", "definition": "none.json""#)
        #expect(problems.map(\.error.code) == [.definitionUnreadable])
        problems = try await self.problems(PharmacyHost.definition, #""contract": 7"#)
        #expect(problems.map(\.error.code) == [.configurationInvalid])
        #expect(problems[0].error.location == Self.service + "/networkServiceConfiguration/contract")
        problems = try await self.problems(PharmacyHost.definition, #""contract": "Pharmacies", "contracts": 1"#)
        #expect(problems.contains { $0.severity == .warning && $0.error.code == .manifestUnknownKey })
        problems = try await self.problems(
            PharmacyHost.definition, #""contract": "Pharmacies", "credentials": "helth""#)
        #expect(problems.map(\.error.code) == [.networkCredential])
        #expect(problems[0].error.location == Self.service + "/networkServiceConfiguration/credentials")
        #expect(problems[0].error.message == "the manifest has no credential `helth`; it has none")
        #expect(problems[0].description.hasPrefix("error: line "))
        #expect(problems[0].description.hasSuffix("network.credential: \(problems[0].error.message)"))
        problems = try await self.problems(baseURL: "nowhere")
        #expect(problems.map(\.error.location) == [Self.service + "/networkServiceConfiguration/baseURL"])
    }

    @Test func `inputs are compared with the indicators`() async throws {
        let problems = try await problems(
            """
            {
              "search": {"request": {"path": "%0[zipp]"}},
              "rate": {"request": {"path": "%0/%1/%2/%3"}},
              "greeting": {"request": {"path": "%0/%1"}},
              "all": {"request": {"path": "%0"}},
              "icon": {"request": {"path": "icon"}}
            }
            """)
        let errors = problems.filter { $0.severity == .error }
        #expect(errors.count == 3 && errors.allSatisfy { $0.error.code == .wireMismatch }, "\(problems)")
        let sound = try await self.problems(
            """
            {"search": {"request": {"path": "%0[zipp]"}}, "icon": {"request": {"path": "icon"}}}
            """)
        let words = sound.filter { $0.error.code != .callUnimplemented }.map(\.error.message)
        #expect(
            words == [
                "the input of `search` has no property `zipp`; did you mean `zip`?",
                "no indicator uses `zip` of the input of `search`",
                "no indicator uses `radius` of the input of `search`",
                "no indicator uses the input of `icon`",
            ])
    }

    @Test func `a definition without any method of the contract is an error`() async throws {
        let problems = try await problems(#"{"find": {"request": {"path": "x"}}}"#)
        #expect(problems.map(\.error.code) == [.wireMismatch])
        #expect(problems[0].error.message == "the definition has no method of `Pharmacies`; it has `find`")
    }
}

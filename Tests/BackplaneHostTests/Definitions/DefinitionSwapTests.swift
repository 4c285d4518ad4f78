import Backplane
import BackplaneDefinitions
import BackplaneNetwork
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// Definition files that change while their host runs.
@Suite(.timeLimit(.minutes(5)))
struct DefinitionSwapTests {
    private static let first = #"{"search": {"request": {"path": "first/%0[zip]"}}}"#
    private static let second = #"{"search": {"request": {"path": "second/%0[zip]"}}}"#

    /// A server that answers with the path of the request, and holds back requests for the ZIP code `wait`.
    private static func server(_ latch: TestGate) -> PharmacyServer {
        PharmacyServer { request in
            if request.url.hasSuffix("/wait") { await latch.passThoughCancelled() }
            let steps = request.url.split(separator: "/")
            return PharmacyServer.json(#"[{"id": 1, "name": "\#(steps[steps.count - 2])"}]"#)
        }
    }

    private func name(_ pharmacies: Remote<Pharmacies>, _ zip: String = "1") async throws -> String? {
        try await pharmacies.search(PharmacyQuery(zip: zip)).first?.name
    }

    /// The ways in which a changed file becomes active.
    enum Way: CaseIterable, Sendable {
        case swap, swapByID, apply, swapApplying

        func take(_ test: PharmacyHost) async throws {
            switch self {
            case .swap: try await test.host.swap([test.test.folder + "/Pharmacies.json"])
            case .swapByID: try await test.host.swap(["definition.Pharmacies"])
            case .apply: try await test.host.apply(test.document)
            case .swapApplying: try await test.host.swap(applying: test.document)
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `a changed file is served at once, and calls in flight finish on the old one`(way: Way) async throws {
        let latch = TestGate(), test = try PharmacyHost(Self.first, server: Self.server(latch))
        try await test.host.start()
        let pharmacies = try await test.pharmacies
        #expect(try await name(pharmacies) == "first")
        let call = Task { try await name(pharmacies, "wait") }
        try await latch.arrivals()
        try test.define(Self.second)
        try await way.take(test)
        #expect(try await name(pharmacies) == "second")
        latch.open()
        #expect(try await call.value == "first")
        let generations = try await test.host.generations(of: "definition.Pharmacies")
        #expect(generations.map(\.state) == [.retired, .active])
        await test.host.stop()
    }

    @Test(arguments: Way.allCases)
    func `a faulty file is refused, and the old one stays`(way: Way) async throws {
        let test = try PharmacyHost(Self.first, server: Self.server(TestGate())), pharmacies = try await test.pharmacies
        #expect(try await name(pharmacies) == "first")
        for faulty in ["{", #"{"search": {"request": {"path": "%0%9"}}}"#, #"{"find": {"request": {"path": "x"}}}"#] {
            try test.define(faulty)
            #expect(await error { try await way.take(test) } != nil)
            #expect(try await name(pharmacies) == "first")
        }
        try test.define(Self.second)
        try await way.take(test)
        #expect(try await name(pharmacies) == "second")
        await test.host.stop()
    }

    @Test func `an unchanged file is not swapped, and a rollback returns to the earlier one`() async throws {
        let test = try PharmacyHost(Self.first, server: Self.server(TestGate())), pharmacies = try await test.pharmacies
        #expect(try await name(pharmacies) == "first")
        let path = test.test.folder + "/Pharmacies.json"
        #expect(try await test.host.swap([path]).outcome == .unchanged)
        try test.define(Self.second)
        let report = try await test.host.swap([path])
        #expect(report.plugins.map(\.plugin) == ["definition.Pharmacies"])
        #expect(report.plugins.first?.fromGeneration == 1 && report.plugins.first?.toGeneration == 2)
        #expect(report.components.map(\.component) == ["WebService"])
        #expect(try await name(pharmacies) == "second")
        try await test.host.rollback(plugin: "definition.Pharmacies")
        #expect(try await name(pharmacies) == "first")
        await test.host.stop()
    }

    @Test func `a method that callers use is not removed unless that is allowed`() async throws {
        let test = try PharmacyHost(), pharmacies = try await test.pharmacies
        _ = try await pharmacies.all(Nothing())
        let path = test.test.folder + "/Pharmacies.json"
        try test.define(Self.first)
        let refused = await error { try await test.host.swap([path]) }
        #expect(refused?.code == .swapRefused && refused?.causes.first?.code == .callUnimplemented)
        try await test.host.swap([path], ChangeOptions(allowsMissingMethods: true))
        #expect(await error { try await pharmacies.all(Nothing()) }?.code == .callUnimplemented)
        await test.host.stop()
    }

    @Test func `no call is lost in a hundred swaps under callers`() async throws {
        let test = try PharmacyHost(Self.first, server: Self.server(TestGate())), pharmacies = try await test.pharmacies
        let path = test.test.folder + "/Pharmacies.json", begun = TestGate(), isOver = TestGate()
        begun.open()
        let callers = (0..<2).map { _ in
            Task {
                var calls = 0
                while isOver.arrived == 0 {
                    let name = try await name(pharmacies)
                    #expect(name == "first" || name == "second")
                    calls += 1
                    if calls == 1 { await begun.passThoughCancelled() }
                }
                return calls
            }
        }
        isOver.open()
        try await begun.arrivals(2)
        for index in 0..<100 {
            try test.define(index.isMultiple(of: 2) ? Self.second : Self.first)
            #expect(try await test.host.swap([path]).outcome == .changed)
        }
        await isOver.passThoughCancelled()
        for caller in callers { #expect(try await caller.value > 0) }
        await test.host.stop()
    }
}

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

import Backplane
import BackplaneTestKit
import Challenge
import TestFixtures
import Testing

@testable import BackplaneHost

extension ManagerName where C == Trials {
    fileprivate static var trial: Self { "Trial" }
    fileprivate static var mistaken: Self { "Sound" }
}

@Suite(.timeLimit(.minutes(5)))
struct ManagerNameTests {
    private static let managers = """
        "Trial": {"className": "TrialManager"},
        "Sound": {"className": "ChallengeManager", "dataAccessController": {"className": "ChallengeDataAccess"}}
        """

    @Test func `a constant gives the manager typed, without an annotation`() async throws {
        let test = try TestHost(managers: Self.managers, from: .linked)
        let trial = try await test.host.manager(.trial)
        #expect(type(of: trial) == Remote<Trials>.self)
        #expect(try trial.path() == [])
        await test.host.stop()
    }

    @Test func `a text is still a name, with the contract from where it is used`() async throws {
        let test = try TestHost(managers: Self.managers, from: .linked)
        let annotated: Remote<Trials> = try await test.host.manager("Trial")
        let name = "Trial"
        let named = try await test.host.manager(name, as: Trials.self)
        #expect(try annotated.path() == named.path())
        await test.host.stop()
    }

    @Test func `a name that is made at run time is the same as a constant`() {
        #expect(ManagerName<Trials>("Tri" + "al") == .trial)
        #expect("\(ManagerName<Trials>.trial)" == "Trial")
        #expect(Set<ManagerName<Trials>>([.trial, "Trial", .mistaken]).count == 2)
    }

    @Test func `a constant for another manager's contract is the mismatch that a text would be`() async throws {
        let test = try TestHost(managers: Self.managers, from: .linked)
        let byConstant = await error { try await test.host.manager(.mistaken) }
        let byText = await error { try await test.host.manager("Sound", as: Trials.self) }
        #expect(byConstant?.code == .wireMismatch)
        #expect(byConstant == byText)
        await test.host.stop()
    }
}

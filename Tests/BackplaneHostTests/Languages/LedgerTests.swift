import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// A plugin in C++, with exceptions inside, made from the header alone.
@Suite(.timeLimit(.minutes(5)))
struct LedgerTests {
    private let test: TestHost

    init() throws {
        test = try TestHost(
            """
            {"manifestVersion": 1, "plugins": [{"library": "_Challenge"}, {"library": "Ledger"}],
             "managers": {"Trials": {"className": "TrialManager"},
                          "Ledger": {"className": "LedgerManager", "uses": {"trials": "Trials"}}}}
            """,
            pluginPaths: [BuiltProducts.folder])
    }

    private func call(_ method: String, _ input: String = "null") async throws(BackplaneError) -> String {
        try await test.call("Ledger", method, input)
    }

    @Test func `methods of both kinds answer`() async throws {
        #expect(try await call("total") == "0")
        #expect(try await call("add", "7") == "7")
        #expect(try await call("add", "-3") == "4")
        #expect(try await call("edition") == "1")
        await test.host.stop()
    }

    @Test func `an error of its own arrives whole`() async throws {
        #expect(try await call("add", "5") == "5")
        let overdrawn = await error { try await call("add", "-12") }
        #expect(overdrawn?.code == .componentFailed && overdrawn?.message == "the ledger lacks 7")
        #expect(overdrawn?.failure?.code == "ledger.overdrawn" && overdrawn?.failure?.details == ["missing": "7"])
        #expect(try await call("total") == "5", "nothing was taken")
        let ledger: Remote<LedgerInSwift> = try await test.host.manager("Ledger")
        let typed = await #expect(throws: LedgerInSwift.Overdrawn.self) { try await ledger.add(-9) }
        #expect(typed?.missing == 4)
        await test.host.stop()
    }

    /// The C++ plugin's contract for users in Swift.
    private struct LedgerInSwift: Contract {
        typealias Failure = Overdrawn
        static let name = "Ledger"
        static let version: Version = "1.0.0"
        let add = AsyncMethod<Int, Int>()

        struct Overdrawn: ContractError {
            var missing: Int
            var code: String { "ledger.overdrawn" }
            var message: String { "the ledger lacks \(missing)" }
        }
    }

    @Test func `it calls its collaborator, and passes on the answer or the error`() async throws {
        #expect(try await test.call("Trials", "path") == "[]")
        #expect(try await call("path") == "[2]", "the call came through the ledger")
        let trouble = await error { try await call("fail", #""ouch""#) }
        #expect(trouble?.code == .componentFailed && trouble?.message == "ouch")
        #expect(trouble?.failure == .init(code: "trial.trouble", details: ["length": "4"]))
        await test.host.stop()
    }

    @Test func `another edition takes over with the state, and the one before comes back`() async throws {
        #expect(try await call("add", "40") == "40")
        let next = try test.files.write(FixtureLibrary.bytes("Ledger", version: "2.0.0"), as: "libNext.so")
        let report = try await test.host.swap(
            library: next, ChangeOptions(drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60)))
        #expect(report.outcome == .changed)
        #expect(try await call("edition") == "2")
        #expect(try await call("add", "2") == "42")
        _ = try await test.host.rollback(plugin: "org.backplane.tests.ledger", to: 1, .patient)
        #expect(try await call("edition") == "1")
        #expect(try await call("total") == "42")
        await test.host.stop()
    }
}

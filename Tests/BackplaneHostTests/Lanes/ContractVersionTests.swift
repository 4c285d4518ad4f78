import Backplane
import BackplaneTestKit
import ParityContracts
import TestFixtures
import Testing

@testable import BackplaneHost

/// A provider serves users that were compiled with an earlier version of its contract, and nobody else.
@Suite(.timeLimit(.minutes(10)))
struct ContractVersionTests {
    private static let provider = #""Ledger": {"className": "LedgerManager"}"#
    private static let plugin = "plugin `org.backplane.tests.parity`"

    private static func reader(_ className: String) -> String {
        #"\#(provider), "Reader": {"className": "\#(className)", "uses": {"ledger": "Ledger"}}"#
    }

    @Test func `a provider of 1_4 serves a host program that knows 1_2`() async throws {
        try await TestHost.with(parity: Self.provider) { test in
            let ledger: Remote<EarlierLedger> = try await test.host.manager("Ledger")
            let found = try await ledger.find(.init(text: "a"))
            #expect(
                found == [.init(text: "a", wasLimited: false)],
                "what it does not know of the output is left out, what it does not give is nil")
            #expect(try ledger.count(.init(text: "abc")) == 3)
            #expect(
                await error { try await ledger.given("a") }
                    == BackplaneError(.callUnimplemented, "the called component has no method `given`"))
            let lanes = await test.host.wires.map(\.lane)
            #expect(lanes == [.encoded(because: "`Ledger` is 1.2.0 in the host program and 1.4.0 in \(Self.plugin)")])
        }
    }

    @Test func `and a plugin that knows 1_2`() async throws {
        try await TestHost.with(parity: Self.reader("LedgerReader")) { test in
            let problems = await test.host.check()
            #expect(problems.map(\.severity) == [.warning])
            #expect(problems.first?.error.code == .callUnimplemented)
            #expect(
                problems.first?.error.message.contains("`given`") == true,
                "what is missing is told before anything starts")
            let reader: Remote<LedgerReading> = try await test.host.manager("Reader")
            #expect(try await reader.find("a") == ["a"])
            #expect(try reader.count("abc") == 3)
            #expect(await error { try await reader.given("a") }?.code == .callUnimplemented)
        }
    }

    @Test func `the same version with another layout is encoded, says why, and works`() async throws {
        let difference = "`find` takes `OtherLedger.Query` for the user and `LedgerQuery` for the provider"
        try await TestHost.with(parity: Self.reader("EqualVersionReader")) { test in
            let reader: Remote<LedgerReading> = try await test.host.manager("Reader")
            #expect(try await reader.find("a") == ["a true"])
            #expect(try reader.count("abc") == 3)
            let ledger: Remote<OtherLedger> = try await test.host.manager("Ledger")
            #expect(
                try await ledger.find(.init(text: "b", limit: nil, note: "")) == [
                    LedgerEntry(text: "b", wasLimited: false, pages: [1, 2])
                ])
            let lanes = Dictionary(
                await test.host.wires.map { ("\($0.user ?? "-") \($0.provider)", $0.lane) },
                uniquingKeysWith: { first, _ in first })
            #expect(
                lanes == [
                    "- Reader": .native, "Reader Ledger": .encoded(because: difference),
                    "- Ledger": .encoded(because: difference),
                ])
        }
    }

    @Test func `a look-up of a provider that does not fit is refused`() async throws {
        try await TestHost.with(parity: Self.provider) { test in
            let later = await error { try await test.host.manager("Ledger", as: LaterLedger.self) }
            let other = await error { try await test.host.manager("Ledger", as: OtherMajorLedger.self) }
            let kind = await error { try await test.host.manager("Ledger", as: OtherKindLedger.self) }
            #expect([later, other, kind].map { $0?.code } == [.wireMismatch, .wireMismatch, .wireMismatch])
            let start = "was requested of Ledger, but `LedgerManager` 1.0.0 of \(Self.plugin) provides `Ledger`"
            #expect(later?.message == "`Ledger` 1.4.1 \(start) 1.4.0, an earlier version")
            #expect(other?.message == "`Ledger` 2.0.0 \(start) 1.4.0, another major version")
            #expect(kind?.message == "`Ledger` 1.4.0 \(start) 1.4.0 with `total` asynchronous, not synchronous")
        }
    }
}

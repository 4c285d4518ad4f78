import Backplane
import BackplaneTestKit
import ParityContracts
import TestFixtures
import Testing

@testable import BackplaneHost

/// What is thrown arrives as the same error, in either lane, from the host and from plugin to plugin.
@Suite(.timeLimit(.minutes(10)))
struct ErrorParityTests {
    @Test(arguments: Route.allCases)
    func `every error arrives with all it has`(route: Route) async throws {
        try await route.with("Failures", as: Failures.self) { _, failures in
            for kind in FailureKind.allCases {
                #expect(await error { try await failures.fail(kind) } == kind.error)
                #expect(throws: kind.error) { try failures.failNow(kind) }
            }
            #expect(await error { try await failures.failDeep(100) } == .deep(100))
        }
    }

    @Test(arguments: Route.allCases)
    func `errors that came out of a plugin outlive its host`(route: Route) async throws {
        var kept: [FailureKind: BackplaneError] = [:]
        try await route.with("Failures", as: Failures.self) { _, failures in
            for kind in FailureKind.allCases { kept[kind] = await error { try await failures.fail(kind) } }
        }
        for kind in FailureKind.allCases {
            #expect(kept[kind] == kind.error)
            #expect(kept[kind]?.detailedDescription.hasSuffix(kind.error.detailedDescription) == true)
        }
    }

    @Test(arguments: Route.allCases)
    func `an error that the contract declares is caught with its type`(route: Route) async throws {
        try await route.with("Loans", as: Loans.self) { _, loans in
            for wanted in [LoanError.lent(book: "Moby-Dick", to: "Ann \u{1F40B}"), .lent(book: "", to: nil), .closed] {
                let asynchronous = await #expect(throws: LoanError.self) { try await loans.borrow(wanted) }
                let synchronous = #expect(throws: LoanError.self) { try loans.borrowNow(wanted) }
                var titles: [String] = []
                let streamed = await #expect(throws: LoanError.self) {
                    for try await title in loans.titles(wanted) { titles.append(title) }
                }
                #expect([asynchronous, synchronous, streamed] == [wanted, wanted, wanted])
                #expect(titles == ["Moby-Dick"])
            }
        }
    }

    @Test(arguments: Route.allCases)
    func `every other error of such a contract arrives as it does elsewhere`(route: Route) async throws {
        try await route.with("Loans", as: Loans.self) { _, loans in
            for kind in FailureKind.allCases {
                let arrived = await error { try await loans.fail(kind) }
                #expect(arrived == kind.error)
            }
            let late = await error { try await loans.borrow(.closed, Call(within: .seconds(-1))) }
            #expect(late?.code == .callDeadline)
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `an error that the user's version of its type does not know arrives with its code`(lanes: LaneRule)
        async throws
    {
        let refused = BackplaneError.Failure(code: "loans.refused")
        try await TestHost.with(parity: #""Loans": {"className": "LoansManager"}"#, lanes: lanes) { test in
            let earlier: Remote<EarlierLoans> = try await test.host.manager("Loans")
            let untyped: Remote<UntypedLoans> = try await test.host.manager("Loans")
            await #expect(throws: EarlierLoans.Failure.closed) { try await earlier.borrow(.closed) }
            let unknown = await error { try await earlier.borrow(.lent(book: "Emma", to: nil)) }
            #expect(unknown?.code == .componentFailed && unknown?.message == "the loan is refused")
            #expect(unknown?.failure?.code == refused.code && unknown?.calls.first?.hasPrefix("Loans.borrow") == true)
            let renamed = await error { try await earlier.borrow(.renamed) }
            #expect(renamed?.failure?.code == "loans.renamed", "which is another error to this user")
            let streamed = await error { for try await _ in earlier.titles(.lent(book: "Emma", to: nil)) {} }
            #expect(streamed?.failure?.code == refused.code)
            do throws(BackplaneError) {
                _ = try await untyped.borrow(.lent(book: "Emma", to: "Ann"))
            } catch {
                #expect(error.failure(as: LoanError.self) == .lent(book: "Emma", to: "Ann"))
            }
        }
    }
}

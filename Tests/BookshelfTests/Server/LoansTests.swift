#if Engines
@testable import BookshelfServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5)))
struct LoansTests {
    private let day = Date(timeIntervalSince1970: 1_700_000_000)

    @Test func `a loan is due in two weeks`() throws {
        let loan = try #require(Loans().borrow("emma", on: day))
        #expect(loan == Loan(id: "loan-1", book: "emma", due: "2023-11-28T22:13:20Z"))
    }

    @Test func `there is one copy of every book`() throws {
        let loans = Loans()
        let loan = try #require(loans.borrow("emma", on: day))
        #expect(loans.borrow("emma", on: day) == nil)
        #expect(loans.borrow("walden", on: day)?.id == "loan-2")
        #expect(loans.giveBack(loan.id) == loan)
        #expect(loans.giveBack(loan.id) == nil)
        #expect(loans.borrow("emma", on: day)?.id == "loan-3")
        #expect(loans.all.map(\.book) == ["walden", "emma"])
    }
}
#endif

#if Engines
import Foundation
import Synchronization

/// A book on loan to the reader.
struct Loan: Codable, Hashable, Sendable {
    var id: String
    /// The identifier of the book.
    var book: String
    /// The due date in ISO 8601, in UTC.
    var due: String
}

/// All current loans; the library has one copy of every book.
final class Loans: Sendable {
    private struct State {
        var loans: [Loan] = []
        var count = 0
    }
    private let state = Mutex(State())

    static let period: TimeInterval = 14 * 24 * 60 * 60

    /// The current loans, oldest first.
    var all: [Loan] { state.withLock(\.loans) }

    /// Lends a book and returns the loan, or `nil` if the book is already on loan.
    func borrow(_ book: String, on date: Date) -> Loan? {
        state.withLock { state in
            guard !state.loans.contains(where: { $0.book == book }) else { return nil }
            state.count += 1
            let loan = Loan(
                id: "loan-\(state.count)", book: book, due: date.addingTimeInterval(Self.period).formatted(.iso8601))
            state.loans.append(loan)
            return loan
        }
    }

    /// Ends a loan and returns it, or `nil` if there is none with the given identifier.
    func giveBack(_ id: String) -> Loan? {
        state.withLock { state in
            state.loans.firstIndex { $0.id == id }.map { state.loans.remove(at: $0) }
        }
    }
}
#endif

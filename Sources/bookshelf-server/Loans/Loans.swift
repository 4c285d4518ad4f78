#if Engines
import Foundation
import Synchronization

/// One book that a reader has.
struct Loan: Codable, Hashable, Sendable {
    var id: String
    /// The book's id.
    var book: String
    /// ISO 8601, in UTC.
    var due: String
}

/// All loans. There is one copy of every book.
final class Loans: Sendable {
    private struct State {
        var loans: [Loan] = []
        var count = 0
    }
    private let state = Mutex(State())

    static let period: TimeInterval = 14 * 24 * 60 * 60

    /// Oldest first.
    var all: [Loan] { state.withLock(\.loans) }

    /// `nil` when the book is lent already.
    func borrow(_ book: String, on date: Date) -> Loan? {
        state.withLock { state in
            guard !state.loans.contains(where: { $0.book == book }) else { return nil }
            state.count += 1
            let loan = Loan(id: "loan-\(state.count)", book: book, due: date.addingTimeInterval(Self.period).formatted(.iso8601))
            state.loans.append(loan)
            return loan
        }
    }

    /// The loan that ended; `nil` when there is none of that id.
    func giveBack(_ id: String) -> Loan? {
        state.withLock { state in
            state.loans.firstIndex { $0.id == id }.map { state.loans.remove(at: $0) }
        }
    }
}
#endif

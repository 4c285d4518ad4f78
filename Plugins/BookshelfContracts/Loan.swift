public import Backplane
public import FoundationEssentials

/// A book on loan to the reader.
public struct Loan: Codable, Sendable, Hashable {
    /// The identifier for returning the loan.
    public var id: String
    /// The identifier of the book.
    public var book: String
    /// The date by which the book must be returned.
    public var due: Date
    /// The number of days until the book is due, rounded up; `nil` if the manager has no clock.
    public var daysLeft: Int?

    /// Creates a loan.
    ///
    /// - Parameters:
    ///   - id: The identifier for returning the loan.
    ///   - book: The identifier of the book.
    ///   - due: The date by which the book must be returned.
    ///   - daysLeft: The number of days until then, or `nil` if the current time is unknown.
    public init(id: String, book: String, due: Date, daysLeft: Int? = nil) {
        (self.id, self.book, self.due, self.daysLeft) = (id, book, due, daysLeft)
    }
}

/// The input of a stream of all loans; after a swap, the stream begins again with all loans.
public struct CurrentLoans: Codable, Sendable, Resumable {
    /// Creates the input.
    public init() {}

    private enum Key: CodingKey {}

    /// Decodes any object.
    public init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: Key.self) }

    /// Returns the same input.
    public func resuming(after last: [Loan]) -> CurrentLoans { self }
}

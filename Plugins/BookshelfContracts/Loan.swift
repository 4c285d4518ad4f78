public import FoundationEssentials

/// A book that was borrowed.
public struct Loan: Codable, Sendable, Hashable {
    public var id: String
    /// The book's id.
    public var book: String
    public var due: Date
    /// Days until it is due; `nil` where the manager has no clock.
    public var daysLeft: Int?

    public init(id: String, book: String, due: Date, daysLeft: Int? = nil) {
        (self.id, self.book, self.due, self.daysLeft) = (id, book, due, daysLeft)
    }
}

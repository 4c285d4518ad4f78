public import Backplane

/// The contract of the manager that counts borrowings.
public struct Popularity: Contract {
    /// The version of this set of methods.
    public static let version: Version = "1.0.0"
    /// Returns the borrowed books, the most popular first.
    public let ranking = SyncMethod<Nothing, [BorrowedBook]>()
    /// Creates the contract with its methods.
    public init() {}
}

/// A book and the number of times it has been borrowed.
public struct BorrowedBook: Codable, Sendable, Hashable {
    /// The identifier of the book.
    public var book: String
    /// The number of borrowings.
    public var count: Int

    /// Creates the count of a book.
    public init(book: String, count: Int) { (self.book, self.count) = (book, count) }
}

public import Backplane

/// A book that was borrowed.
public struct Borrowing: Codable, Sendable, Hashable {
    /// The number of the borrowing, counted from 1 without gaps.
    public var number: Int
    /// The identifier of the book.
    public var book: String

    /// Creates a borrowing.
    public init(number: Int, book: String) { (self.number, self.book) = (number, book) }
}

/// The position from which borrowings are read, so that a reader misses none when the library's code is swapped.
public struct BorrowingsAfter: Codable, Sendable, Resumable {
    /// The number of the last borrowing to skip; 0 for none.
    public var number: Int

    /// Creates the position after the borrowing with a number.
    public init(_ number: Int) { self.number = number }

    /// Returns the position after a borrowing.
    public func resuming(after last: Borrowing) -> BorrowingsAfter { BorrowingsAfter(last.number) }
}

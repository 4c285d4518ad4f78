import BackplaneStorage
import FoundationEssentials

/// The record of the store suite: a book of 200 bytes in JSON, sorted by its number.
struct BenchBook: Record {
    static let collection = "books"
    var id: String
    var title: String
    var author: String
    var number: Int

    struct Indexes: RecordIndexes { let number = Indexed<Int>("number") }

    /// Creates the book with a number; its id does not reveal the order.
    init(_ number: Int) {
        id = Self.id(number)
        title = "The \(number)th of many books, each of which has a title of some length"
        author = "Author \(number % 1_000), who has written more than one of these"
        self.number = number
    }

    /// Returns the id of a book, unique for each number below 2³².
    static func id(_ number: Int) -> String { "book-\(UInt32(truncatingIfNeeded: number) &* 2_654_435_761)" }

    static let definition = CollectionDefinition(collection, indexes: [IndexDefinition("number")])
    static let namespace = "Bench"
}

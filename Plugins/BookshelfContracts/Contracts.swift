public import Backplane
public import BackplaneManagers
public import FoundationEssentials

/// What the manager answers.
public struct Library: Contract {
    public static let version: Version = "1.2.0"
    /// Books with all the words, from the network, or as they were kept when it fails.
    public let search = AsyncMethod<BookQuery, Sourced<[Book]>>()
    /// Borrows the book with an id.
    public let borrow = AsyncMethod<String, Loan>()
    /// Gives a loan back by its id.
    public let giveBack = AsyncMethod<String, Nothing>()
    /// How many searches were answered so far.
    public let count = SyncMethod<Nothing, Int>()
    public init() {}
}

/// What the data access controller keeps: the answers to searches.
public struct Shelf: Contract {
    public static let version: Version = "1.0.0"
    public let keep = AsyncMethod<SearchAnswer, Nothing>()
    public let kept = AsyncMethod<BookQuery, Kept<[Book]>?>()
    public init() {}
}

/// A search and the books that came.
public struct SearchAnswer: Codable, Sendable, Hashable {
    public var query: BookQuery
    public var books: [Book]

    public init(query: BookQuery, books: [Book]) { (self.query, self.books) = (query, books) }
}

/// What the communication controller asks of its services.
public struct LibraryNetwork: Contract {
    public static let version: Version = "1.0.0"
    public let find = AsyncMethod<BookQuery, [Book]>()
    public let borrow = AsyncMethod<String, Loan>()
    public let giveBack = AsyncMethod<String, Nothing>()
    public init() {}
}

/// What the network service `BooksService` answers, in both of its versions.
public struct BooksAPI: Contract {
    public static let version: Version = "1.0.0"
    public let search = AsyncMethod<String, [Book]>()
    public let borrow = AsyncMethod<String, Loan>()
    public let giveBack = AsyncMethod<String, Nothing>()
    public init() {}
}

/// What the plugin Clock provides, as far as it is used here.
public struct WallTime: Contract {
    public static let version: Version = "1.0.0"
    public let now = SyncMethod<Nothing, Date>()
    public init() {}
}

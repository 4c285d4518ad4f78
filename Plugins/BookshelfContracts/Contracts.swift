public import Backplane
public import FoundationEssentials

/// The contract of the library's manager.
public struct Library: Contract {
    /// The version of this set of methods.
    public static let version: Version = "1.8.0"
    /// Returns the books that match every word, from the network or, if it fails, from storage.
    public let search = AsyncMethod<BookQuery, Sourced<[Book]>>()
    /// Returns a page of the catalogue; the first one is 1.
    ///
    /// A page that was fetched within the last day is returned immediately, and refreshed for the next call.
    public let browse = AsyncMethod<Int, CataloguePage>()
    /// Stores the cover of a book, and returns its path.
    public let cover = AsyncMethod<String, String>()
    /// Borrows the book with an identifier.
    public let borrow = AsyncMethod<String, Loan>()
    /// Ends the loan with an identifier.
    public let giveBack = AsyncMethod<String, Nothing>()
    /// Streams the loans that have not been returned, in the order of their due dates: all of them now, and again after
    /// each change.
    public let loans = StreamMethod<CurrentLoans, [Loan]>()
    /// Streams the borrowings after a number, followed by each new one; the last thousand are available.
    public let borrowings = StreamMethod<BorrowingsAfter, Borrowing>()
    /// Streams the events of the library after a given one, followed by each new one as it occurs.
    public let events = StreamMethod<EventsAfter, LibraryEvent>()
    /// Streams the progress of the text of a borrowed book, which is stored once it has arrived.
    public let text = StreamMethod<String, TextProgress>()
    /// Stores the whole catalogue with its covers, and streams the progress; the last element contains a report.
    public let synchronise = StreamMethod<Nothing, CatalogueProgress>()
    /// The number of searches answered so far.
    public let count = SyncMethod<Nothing, Int>()
    /// Creates the contract with its methods.
    public init() {}
}

/// The contract of the library's data access controller, which stores search results and loans.
public struct Shelf: Contract {
    /// The version of this set of methods.
    public static let version: Version = "1.4.0"
    /// Stores the books found by a search.
    public let keep = AsyncMethod<SearchAnswer, Nothing>()
    /// Returns the books stored for a search and the time they were stored, or `nil` if there are none.
    public let kept = AsyncMethod<BookQuery, Kept<[Book]>?>()
    /// Stores a loan until it is returned.
    public let lend = AsyncMethod<Loan, Nothing>()
    /// Deletes the loan with an identifier.
    public let takeBack = AsyncMethod<String, Nothing>()
    /// Returns the loans that have not been returned.
    public let lent = AsyncMethod<Nothing, [Loan]>()
    /// Streams the loans that have not been returned: all of them now, and again after each change.
    public let loans = StreamMethod<CurrentLoans, [Loan]>()
    /// Stores books of the catalogue, and returns their number.
    public let keepCatalogue = AsyncMethod<[Book], Int>()
    /// Stores the cover of a book, and returns its path.
    public let keepCover = AsyncMethod<BookFile, String>()
    /// Stores the text of a book, and returns its path.
    public let keepText = AsyncMethod<BookFile, String>()
    /// Returns the stored text of a book, or `nil` if there is none.
    public let keptText = AsyncMethod<String, TextProgress?>()
    /// Creates the contract with its methods.
    public init() {}
}

/// A search and the books it found.
public struct SearchAnswer: Codable, Sendable, Hashable {
    /// The search.
    public var query: BookQuery
    /// The books that the search found.
    public var books: [Book]

    /// Creates an answer from a search and the books that it found.
    public init(query: BookQuery, books: [Book]) { (self.query, self.books) = (query, books) }
}

/// The contract of the library's communication controller.
public struct LibraryNetwork: Contract {
    /// The version of this set of methods.
    public static let version: Version = "1.4.0"
    /// Fetches the books that match a search.
    public let find = AsyncMethod<BookQuery, [Book]>()
    /// Borrows the book with the given identifier.
    public let borrow = AsyncMethod<String, Loan>()
    /// Ends the loan with the given identifier.
    public let giveBack = AsyncMethod<String, Nothing>()
    /// Streams the events of the library after a given one, and then each new one as it happens.
    public let events = StreamMethod<EventsAfter, LibraryEvent>()
    /// Fetches a page of the catalogue; the first one is 1.
    public let page = AsyncMethod<Int, CataloguePage>()
    /// Returns a page of the catalogue, perhaps as it was when it was last browsed.
    public let browse = AsyncMethod<Int, CataloguePage>()
    /// Fetches the cover of a book, and transfers ownership of the file.
    public let cover = AsyncMethod<String, StoredFile>()
    /// Streams the progress of the text of a borrowed book, and transfers ownership of the file once it has arrived.
    public let text = StreamMethod<String, TextProgress>()
    /// Creates the contract with its methods.
    public init() {}
}

/// The contract of the network service `BooksService`, in both of its versions.
public struct BooksAPI: Contract {
    /// The version of this set of methods.
    public static let version: Version = "1.4.0"
    /// Fetches the books that match every word of a text.
    public let search = AsyncMethod<String, [Book]>()
    /// Borrows the book with an identifier; version 1 of the books API does not support it.
    public let borrow = AsyncMethod<String, Loan>()
    /// Ends the loan with an identifier; version 1 of the books API does not support it.
    public let giveBack = AsyncMethod<String, Nothing>()
    /// Streams the events of the library after a given one, followed by each new one; version 1 of the books API has
    /// none.
    public let events = StreamMethod<EventsAfter, LibraryEvent>()
    /// Fetches a page of the catalogue; version 1 of the books API does not support it.
    public let page = AsyncMethod<Int, CataloguePage>()
    /// Returns a page of the catalogue, perhaps as it was when it was last browsed; version 1 of the books API does not
    /// support it.
    public let browse = AsyncMethod<Int, CataloguePage>()
    /// Fetches the cover of a book, and transfers ownership of the file; version 1 of the books API does not support
    /// it.
    public let cover = AsyncMethod<String, StoredFile>()
    /// Streams the progress of the text of a borrowed book; version 1 of the books API has none.
    public let text = StreamMethod<String, TextProgress>()
    /// Creates the contract with its methods.
    public init() {}
}

/// The part of the Clock plugin's contract that the library uses.
public struct WallTime: Contract {
    /// The version of this set of methods.
    public static let version: Version = "1.0.0"
    /// Returns the current time.
    public let now = SyncMethod<Nothing, Date>()
    /// Creates the contract with its methods.
    public init() {}
}

public import Backplane

/// The progress of the download of a book's text.
public struct TextProgress: Codable, Sendable {
    /// The number of bytes that have arrived.
    public var received: Int64
    /// The total number of bytes, or `nil` while unknown.
    public var total: Int64?
    /// The received file, until the library has stored it.
    public var file: StoredFile?
    /// The path of the stored text; set in the last element.
    public var path: String?

    /// Creates a progress.
    public init(received: Int64, total: Int64? = nil, file: StoredFile? = nil, path: String? = nil) {
        (self.received, self.total, self.file, self.path) = (received, total, file, path)
    }
}

/// A received file of a book: its text or its cover.
public struct BookFile: Codable, Sendable {
    /// The identifier of the book.
    public var book: String
    /// The file, which the receiver takes over.
    public var file: StoredFile

    /// Creates a file of a book.
    public init(book: String, file: StoredFile) { (self.book, self.file) = (book, file) }
}

/// A page of the catalogue.
public struct CataloguePage: Codable, Sendable {
    /// The books of the page.
    public var books: [Book]
    /// The number of all pages.
    public var pages: Int

    /// Creates a page.
    public init(books: [Book], pages: Int) { (self.books, self.pages) = (books, pages) }
}

/// The progress of the synchronisation of the catalogue.
public struct CatalogueProgress: Codable, Sendable {
    /// The step: `pages`, `covers` or, at the end, `report`.
    public var step: String
    /// The number of pages or covers that have arrived or, at the end, of stored books.
    public var done: Int
    /// The number of all of them.
    public var total: Int
    /// The result in words; set in the last element.
    public var report: String?

    /// Creates a progress.
    public init(step: String, done: Int, total: Int, report: String? = nil) {
        (self.step, self.done, self.total, self.report) = (step, done, total, report)
    }
}

public import Backplane

/// The progress of a book's text on its way to the reader.
public struct TextProgress: Codable, Sendable {
    /// The number of bytes that have arrived.
    public var received: Int64
    /// The number of all bytes, or `nil` while it is unknown.
    public var total: Int64?
    /// The file that has arrived, until the library has stored it.
    public var file: StoredFile?
    /// The path of the stored text; the last progress has it.
    public var path: String?

    /// Creates a progress.
    public init(received: Int64, total: Int64? = nil, file: StoredFile? = nil, path: String? = nil) {
        (self.received, self.total, self.file, self.path) = (received, total, file, path)
    }
}

/// A text that has arrived, and the book that it is of.
public struct BookText: Codable, Sendable {
    /// The identifier of the book.
    public var book: String
    /// The file, which its receiver adopts.
    public var file: StoredFile

    /// Creates a text.
    public init(book: String, file: StoredFile) { (self.book, self.file) = (book, file) }
}

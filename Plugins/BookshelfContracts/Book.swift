/// A book of the catalogue.
public struct Book: Codable, Sendable, Hashable {
    /// A stable identifier, such as `moby-dick`.
    public var id: String
    /// The title for display.
    public var title: String
    /// The authors, in the order in which the catalogue lists them.
    public var authors: [Author]
    /// The year of first publication.
    public var year: Int
    /// The language of the original as an ISO 639-1 code.
    public var language: String
    /// The subjects under which the book can be found; empty in version 1 of the books API.
    public var subjects: [String]

    /// Creates a book.
    ///
    /// - Parameters:
    ///   - id: A stable identifier, such as `moby-dick`.
    ///   - year: The year of first publication.
    ///   - language: The language of the original as an ISO 639-1 code.
    public init(id: String, title: String, authors: [Author], year: Int, language: String, subjects: [String] = []) {
        (self.id, self.title, self.authors) = (id, title, authors)
        (self.year, self.language, self.subjects) = (year, language, subjects)
    }
}

/// An author of a book.
///
/// Version 1 of the books API does not report years.
public struct Author: Codable, Sendable, Hashable {
    /// The full name.
    public var name: String
    /// The year of birth, if known.
    public var born: Int?
    /// The year of death, if known.
    public var died: Int?

    /// Creates an author.
    public init(name: String, born: Int? = nil, died: Int? = nil) {
        (self.name, self.born, self.died) = (name, born, died)
    }
}

/// A search for books: every word must occur in the title, the authors or the subjects.
public struct BookQuery: Codable, Sendable, Hashable {
    /// The words to search for, separated by white space.
    public var text: String

    /// Creates a query for the words in a text.
    public init(text: String) { self.text = text }
}

/// A book in the format of version 1 of the books API, where all authors are one string.
public struct FlatBook: Decodable, Sendable {
    /// The identifier of the book.
    public var id: String
    /// The title for display.
    public var title: String
    /// The names of all authors, separated by semicolons.
    public var author: String
    /// The language of the original as an ISO 639-1 code.
    public var language: String
    /// The year of first publication.
    public var year: Int

    /// The book in the format of the contracts.
    public var book: Book {
        let names = author.split(separator: "; ").map(String.init)
        return Book(id: id, title: title, authors: names.map { Author(name: $0) }, year: year, language: language)
    }
}

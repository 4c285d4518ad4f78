#if Engines
import Foundation

/// The server's books in the order of their titles; immutable while the server runs.
struct Catalogue: Sendable {
    let books: [Book]
    private let places: [String: Int]
    private let texts: [SearchText]

    init(_ books: [Book]) throws(CatalogueProblem) {
        let titled = books.map { (book: $0, key: SearchText.folded($0.title)) }
        let sorted = titled.sorted { ($0.key, $0.book.id) < ($1.key, $1.book.id) }.map(\.book)
        var places: [String: Int] = [:]
        for (place, book) in sorted.enumerated() {
            guard !book.id.isEmpty, book.id.utf8.allSatisfy(Self.isAllowed) else {
                throw CatalogueProblem(
                    text: "`\(book.id)` is not an identifier; use lower-case letters, digits and hyphens")
            }
            guard places.updateValue(place, forKey: book.id) == nil else {
                throw CatalogueProblem(text: "two books have the identifier `\(book.id)`")
            }
        }
        self.books = sorted
        self.places = places
        self.texts = sorted.map(SearchText.init)
    }

    init(contentsOf path: String) throws {
        let books: [Book]
        do {
            books = try JSONDecoder().decode([Book].self, from: Data(contentsOf: URL(filePath: path)))
        } catch {
            throw CatalogueProblem(text: "\(path): \(error is DecodingError ? "\(error)" : error.localizedDescription)")
        }
        try self.init(books)
    }

    /// Returns the catalogue that ships with the server.
    static func bundled() throws -> Catalogue {
        guard let url = Bundle.module.url(forResource: "catalogue", withExtension: "json") else {
            throw CatalogueProblem(text: "catalogue.json is missing next to the server")
        }
        return try Catalogue(contentsOf: url.path(percentEncoded: false))
    }

    subscript(id: String) -> Book? {
        places[id].map { books[$0] }
    }

    /// Returns the books that match every word of a query.
    func search(_ query: SearchQuery) -> [Book] {
        zip(books, texts).filter { $1.matches(query) }.map(\.0)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }
}

/// The reason why a catalogue cannot be served.
struct CatalogueProblem: Error, CustomStringConvertible {
    var text: String
    var description: String { "the catalogue cannot be served: \(text)" }
}
#endif

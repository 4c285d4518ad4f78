import Foundation

/// A book of the catalogue, as version 2 of the API sends it.
struct Book: Codable {
    struct Author: Codable {
        var name: String
        /// The years of birth and death, if known.
        var born, died: Int?
    }
    var id, title: String
    var authors: [Author]
    /// The language of the original as an ISO 639-1 code.
    var language: String
    /// The year of first publication.
    var year: Int
    var subjects: [String]

    /// The cover as an SVG image.
    var cover: String {
        let title = title.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="400" height="600">
            <rect width="400" height="600" fill="hsl(\(fnv(Array(id.utf8)) % 360), 45%, 28%)"/>
            <text x="200" y="300" fill="white" font-size="24" text-anchor="middle">\(title)</text>
            </svg>
            """
    }

    /// A text of 2,000 chapters, each of about a hundred bytes.
    var text: String {
        let names = authors.map(\.name).joined(separator: ", ")
        let chapters = (1...2_000).map { number in
            "\nChapter \(number)\nThis is chapter \(number) of \(title), which \(names) wrote in \(year).\n"
        }
        return "\(title)\nby \(names)\n" + chapters.joined()
    }
}

/// A book as version 1 of the API sends it.
struct FlatBook: Encodable {
    var id, title, author, language: String
    var year: Int

    init(_ book: Book) {
        (id, title, language, year) = (book.id, book.title, book.language, book.year)
        author = book.authors.map(\.name).joined(separator: "; ")
    }
}

/// The server's books in the order of their titles.
struct Catalogue {
    let books: [Book]
    /// The words of each book's title, authors and subjects.
    private let texts: [String]

    init() throws {
        let file = Bundle.module.bundleURL.appending(path: "catalogue.json")
        books = try JSONDecoder().decode([Book].self, from: Data(contentsOf: file)).map { (Self.words($0.title), $0) }
            .sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1)
        texts = books.map { book in
            let parts = [book.title] + book.authors.map(\.name) + book.subjects
            return parts.flatMap(Self.words).joined(separator: " ")
        }
    }

    subscript(id: String) -> Book {
        get throws {
            guard let book = books.first(where: { $0.id == id }) else { throw Refusal.unknown("book", id) }
            return book
        }
    }

    /// Returns the books that contain every word of a query, including as part of a longer word.
    func search(_ query: String?) throws -> [Book] {
        let words = Self.words(query ?? "")
        guard (1...100).contains(words.count) else {
            throw Refusal("400 Bad Request", "query.invalid", "`q` has 1 to 100 words to search for.")
        }
        return zip(books, texts).filter { _, text in words.allSatisfy(text.contains) }.map(\.0)
    }

    /// Returns the words of a text in lower case, without diacritics and apostrophes: `odegards` for "Ødegård’s".
    private static func words(_ text: String) -> [String] {
        let latin = text.applyingTransform(StringTransform("Any-Latin; Latin-ASCII; Lower"), reverse: false) ?? text
        return latin.replacing("'", with: "").split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }
}

/// Returns the FNV-1a hash of bytes, which is the same in each run.
func fnv(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
}

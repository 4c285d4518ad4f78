#if Engines
@testable import BookshelfServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5)))
struct CatalogueTests {
    private let books: [Book]

    init() throws {
        books = try Catalogue.bundled().books
    }

    @Test func `there are about two hundred books, each with an id of its own`() {
        #expect((190...210).contains(books.count))
        #expect(Set(books.map(\.id)).count == books.count)
        #expect(Set(books.map(\.title)).count == books.count)
    }

    @Test func `they are in the public domain`() {
        for book in books {
            #expect(book.year < 1930, "\(book.id)")
            for author in book.authors { #expect(author.died ?? 0 < 1930, "\(book.id)") }
        }
    }

    @Test func `nobody wrote before their fifteenth year or lived for more than a hundred`() {
        for book in books {
            for author in book.authors {
                if let born = author.born { #expect(born + 15 <= book.year, "\(book.id)") }
                if let born = author.born, let died = author.died {
                    #expect((20...100).contains(died - born), "\(book.id)")
                }
            }
        }
    }

    @Test func `an author has the same years in every book`() {
        let authors = Set(books.flatMap(\.authors))
        #expect(Set(authors.map(\.name)).count == authors.count)
    }

    @Test func `they are of many languages and about many things`() {
        #expect(Set(books.map(\.language)).count >= 20)
        #expect(Set(books.flatMap(\.subjects)).count >= 200)
        for book in books {
            #expect(book.language.wholeMatch(of: /[a-z]{2}/) != nil, "\(book.id)")
            #expect(!book.title.isEmpty && !book.authors.isEmpty && !book.subjects.isEmpty, "\(book.id)")
            #expect(Set(book.subjects).count == book.subjects.count, "\(book.id)")
        }
    }

    @Test func `books are in the order of their titles`() {
        let titles = books.map { SearchText.folded($0.title) }
        #expect(titles == titles.sorted())
    }

    @Test(arguments: ["", "Moby-Dick", "a b", "é", "a/b"])
    func `an id is made of lower-case letters, digits and hyphens`(id: String) {
        #expect(throws: CatalogueProblem.self) { try Catalogue([Self.book(id)]) }
    }

    @Test func `two books of one id are refused`() {
        #expect(throws: CatalogueProblem.self) { try Catalogue([Self.book("a"), Self.book("a")]) }
    }

    @Test func `a catalogue that cannot be read is named`() {
        let problem = #expect(throws: CatalogueProblem.self) { try Catalogue(contentsOf: "/nowhere/books.json") }
        #expect(problem?.description.contains("/nowhere/books.json") == true)
    }

    static func book(
        _ id: String, title: String = "A Title", authors: [String] = ["Somebody"], subjects: [String] = ["things"]
    ) -> Book {
        Book(
            id: id, title: title, authors: authors.map { Author(name: $0) }, language: "en", year: 1900,
            subjects: subjects)
    }
}
#endif

#if Engines
@testable import BookshelfServer
import Foundation
import FoundationXML
import Testing

@Suite(.timeLimit(.minutes(5)))
struct CoverTests {
    @Test func `the same book has the same cover, and another book another`() throws {
        let book = CatalogueTests.book("one")
        #expect(Cover(book: book).svg == Cover(book: book).svg)
        #expect(Cover(book: book).svg != Cover(book: CatalogueTests.book("two")).svg)
    }

    @Test func `what a title and an author hold is text, not markup`() throws {
        let book = CatalogueTests.book("x", title: #"<script>&"'"#, authors: ["A & B <c>"])
        let svg = Cover(book: book).svg
        #expect(svg.contains("&lt;script&gt;&amp;&quot;&#39;"))
        #expect(!svg.contains("<script"))
        #expect(svg.contains("A &amp; B &lt;c&gt;"))
    }

    @Test func `every cover of the catalogue is well-formed`() throws {
        for book in try Catalogue.bundled().books {
            #expect(XMLParser(data: Data(Cover(book: book).svg.utf8)).parse(), "\(book.id)")
        }
    }

    @Test func `lines break at spaces and keep their width`() {
        #expect(Cover.lines("The Call of the Wild", width: 11, atMost: 7) == ["The Call of", "the Wild"])
        #expect(Cover.lines("Disquisitiones Arithmeticae", width: 4, atMost: 7) == ["Disquisitiones", "Arithmeticae"])
        #expect(Cover.lines("", width: 4, atMost: 7) == [])
    }

    @Test func `what does not fit ends in an ellipsis`() {
        #expect(Cover.lines("a b c d", width: 1, atMost: 3) == ["a", "b", "c …"])
        #expect(Cover.lines("a b c", width: 1, atMost: 3) == ["a", "b", "c"])
    }
}
#endif

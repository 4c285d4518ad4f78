#if Engines
@testable import BookshelfServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct BookRoutesTests {
    private typealias FullBook = BookRoutes.FullBook
    private struct Page: Decodable {
        var items: [FullBook]
        var page: Int
        var per: Int
        var total: Int
        var next: Int?
    }

    @Test func `the pages together are the whole catalogue`() async throws {
        try await RunningServer.run { server in
            let expected = try Catalogue.bundled().books.map(FullBook.init)
            var books: [FullBook] = []
            var number: Int? = 1
            while let next = number {
                let page = try await server.send("GET", "/v2/books?page=\(next)&per=33").decoded(Page.self)
                #expect((page.page, page.per, page.total) == (next, 33, expected.count))
                books += page.items
                number = page.next
            }
            #expect(books == expected)
        }
    }

    @Test func `a page has twenty books unless it is asked for more`() async throws {
        try await RunningServer.run { server in
            let page = try await server.send("GET", "/v2/books").decoded(Page.self)
            #expect((page.page, page.per, page.items.count, page.next) == (1, 20, 20, 2))
            let beyond = try await server.send("GET", "/v2/books?page=1000000&per=100").decoded(Page.self)
            #expect(beyond.items.isEmpty)
            #expect(beyond.next == nil)
        }
    }

    @Test(arguments: [
        "page=0", "page=-1", "page=x", "page=", "page=1000001", "per=0", "per=101", "per=1.5",
        "page=99999999999999999999",
    ])
    func `a page that cannot be is refused`(query: String) async throws {
        try await RunningServer.run { server in
            try await server.send("GET", "/v2/books?\(query)").expectError(400, "page.invalid")
            try await server.send("GET", "/v2/search?q=whale&\(query)").expectError(400, "page.invalid")
        }
    }

    @Test func `a book has its authors with their years, its subjects and its cover`() async throws {
        try await RunningServer.run { server in
            let answer = try await server.send("GET", "/v2/books/frederick-douglass")
            #expect(
                answer.text == """
                    {"authors":[{"died":1895,"name":"Frederick Douglass"}],"cover":"/v2/books/frederick-douglass/cover","id":"frederick-douglass",\
                    "language":"en","subjects":["slavery","autobiography","United States"],"title":"Narrative of the Life of Frederick Douglass","year":1845}
                    """)
        }
    }

    @Test func `a search comes in pages too`() async throws {
        try await RunningServer.run { server in
            let first = try await server.send("GET", "/v2/search?q=whale&per=2").decoded(Page.self)
            #expect(first.items.count == 2)
            #expect(first.total >= 3)
            #expect(first.next == 2)
            let second = try await server.send("GET", "/v2/search?q=whale&per=2&page=2").decoded(Page.self)
            #expect(Set(first.items.map(\.id)).isDisjoint(with: second.items.map(\.id)))
            #expect(try await server.send("GET", "/v2/search?q=nothinglikethis").decoded(Page.self).total == 0)
        }
    }

    @Test func `what is not there is an error, and so is a search for nothing or too much`() async throws {
        try await RunningServer.run { server in
            try await server.send("GET", "/v2/books/moby").expectError(404, "book.unknown")
            try await server.send("GET", "/v2/books/moby/cover").expectError(404, "book.unknown")
            try await server.send("GET", "/v2/search").expectError(400, "query.empty")
            try await server.send("GET", "/v2/search?q=%20").expectError(400, "query.empty")
            try await server.send("GET", "/v2/search?q=\(String(repeating: "a", count: 401))").expectError(
                400, "query.too-long")
        }
    }

    @Test func `a cover is an image`() async throws {
        try await RunningServer.run { server in
            let answer = try await server.send("GET", "/v2/books/moby-dick/cover")
            #expect(answer.status == 200)
            #expect(answer.header("Content-Type") == "image/svg+xml")
            #expect(answer.text.hasPrefix("<svg"))
            #expect(answer.text.contains("Moby-Dick"))
            #expect(answer.text.contains("Herman Melville"))
        }
    }

    @Test(arguments: [
        "/v2/books", "/v2/books?page=2&per=3", "/v2/books/moby-dick", "/v2/search?q=whale", "/v2/books/moby-dick/cover",
    ])
    func `what the client has already is not sent again`(path: String) async throws {
        try await RunningServer.run { server in
            let first = try await server.send("GET", path)
            let tag = try #require(first.header("ETag"))
            #expect(tag.wholeMatch(of: /"[0-9a-f]{32}"/) != nil)
            for condition in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
                let again = try await server.send("GET", path, ["If-None-Match": condition])
                #expect(again.status == 304, "\(condition)")
                #expect(again.header("ETag") == tag)
                #expect(again.data.isEmpty)
            }
            for condition in ["\"other\"", String(tag.dropLast(2)) + "\"", "nonsense"] {
                let other = try await server.send("GET", path, ["If-None-Match": condition])
                #expect(other.status == 200, "\(condition)")
                #expect(other.data == first.data)
            }
        }
    }

    @Test func `entity tags are the same in another server, and differ between books`() async throws {
        let (path, other) = ("/v2/books/walden", "/v2/books/moby-dick")
        let tag = try await RunningServer.run { try await $0.send("GET", path).header("ETag") }
        try await RunningServer.run { server in
            let (same, different) = (try await server.send("GET", path), try await server.send("GET", other))
            #expect(same.header("ETag") == tag)
            #expect(different.header("ETag") != tag)
        }
    }

    @Test func `HEAD says what GET would, without its body`() async throws {
        try await RunningServer.run { server in
            let (get, head) = (try await server.send("GET", "/v2/books"), try await server.send("HEAD", "/v2/books"))
            #expect(head.status == 200)
            #expect(head.data.isEmpty)
            for name in ["ETag", "Content-Type", "Content-Length"] { #expect(head.header(name) == get.header(name)) }
        }
    }
}
#endif

#if Engines
@testable import BookshelfServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct FlatBookRoutesTests {
    private typealias FlatBook = FlatBookRoutes.FlatBook

    @Test func `the whole list comes at once`() async throws {
        try await RunningServer.run { server in
            let answer = try await server.send("GET", "/v1/books")
            #expect(answer.status == 200)
            #expect(answer.header("Content-Type") == "application/json; charset=utf-8")
            #expect(try answer.decoded([FlatBook].self) == Catalogue.bundled().books.map(FlatBook.init))
        }
    }

    @Test func `a book is flat, with its author as one text`() async throws {
        try await RunningServer.run { server in
            let answer = try await server.send("GET", "/v1/books/moby-dick")
            #expect(
                answer.text
                    == #"{"author":"Herman Melville","id":"moby-dick","language":"en","title":"Moby-Dick","year":1851}"#
            )
            let several = try await server.send("GET", "/v1/books/lyrical-ballads")
            #expect(try several.text("author") == "William Wordsworth; Samuel Taylor Coleridge")
        }
    }

    @Test func `a search gives all that match`() async throws {
        try await RunningServer.run { server in
            let books = try await server.send("GET", "/v1/search?q=WHALE").decoded([FlatBook].self)
            #expect(books.count >= 3)
            #expect(books.contains { $0.id == "moby-dick" })
            #expect(
                try await server.send("GET", "/v1/search?q=misérables".percentEncoded).decoded([FlatBook].self).map(
                    \.id) == ["les-miserables"])
            #expect(try await server.send("GET", "/v1/search?q=nothinglikethis").text == "[]")
        }
    }

    @Test func `a book that is not there is an error, and so is a search for nothing`() async throws {
        try await RunningServer.run { server in
            try await server.send("GET", "/v1/books/moby").expectError(404, "book.unknown")
            for path in ["/v1/search", "/v1/search?q=", "/v1/search?q=%20..."] {
                try await server.send("GET", path).expectError(400, "query.empty")
            }
        }
    }
}

extension String {
    var percentEncoded: String { addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed) ?? self }
}
#endif

#if Engines
import Hummingbird
import NIOCore

/// The routes of `/v2` for books: authors and subjects, pages, entity tags and covers.
struct BookRoutes: Sendable {
    /// A book in the format of version 2.
    struct FullBook: Codable, Hashable, Sendable {
        var id: String
        var title: String
        var authors: [Author]
        var year: Int
        var language: String
        var subjects: [String]
        /// The path of the cover image.
        var cover: String

        init(_ book: Book) {
            (id, title, authors, year, language, subjects) = (
                book.id, book.title, book.authors, book.year, book.language, book.subjects
            )
            cover = "/v2/books/\(book.id)/cover"
        }
    }
    let catalogue: Catalogue

    func add(to router: BookshelfRouter) {
        router.route("/v2/books", [.get: { request, _ in try page(of: catalogue.books, for: request) }])
        router.route(
            "/v2/books/:id",
            [
                .get: { request, context in
                    try .taggedJSON(FullBook(catalogue.book(named: context)), for: request)
                }
            ])
        router.route(
            "/v2/books/:id/cover",
            [
                .get: { request, context in
                    let cover = Cover(book: try catalogue.book(named: context))
                    return .tagged(
                        ByteBuffer(string: cover.svg), type: "image/svg+xml", for: request, cacheControl: "max-age=3600"
                    )
                }
            ])
        router.route(
            "/v2/search", [.get: { request, _ in try page(of: catalogue.search(request.searchQuery()), for: request) }])
    }

    private func page(of books: [Book], for request: Request) throws -> Response {
        let page = try Page(of: books, request)
        return try .taggedJSON(page.map(FullBook.init), for: request)
    }
}

extension Catalogue {
    /// Returns the book to which `:id` in the request's path refers.
    func book(named context: BasicRequestContext) throws(Failure) -> Book {
        let id = context.parameters.get("id") ?? ""
        guard let book = self[id] else { throw .unknownBook(id) }
        return book
    }
}
#endif

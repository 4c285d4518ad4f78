#if Engines
import Hummingbird

/// The routes of `/v1`: flat books, without pages.
struct FlatBookRoutes: Sendable {
    /// A book in the format of version 1.
    struct FlatBook: Codable, Hashable, Sendable {
        var id: String
        var title: String
        /// All authors, joined by "; ".
        var author: String
        var year: Int
        var language: String

        init(_ book: Book) {
            (id, title, year, language) = (book.id, book.title, book.year, book.language)
            author = book.authors.map(\.name).joined(separator: "; ")
        }
    }
    let catalogue: Catalogue

    func add(to router: BookshelfRouter) {
        router.route("/v1/books", [.get: { _, _ in try .json(catalogue.books.map(FlatBook.init)) }])
        router.route("/v1/books/:id", [.get: { _, context in try .json(FlatBook(catalogue.book(named: context))) }])
        router.route(
            "/v1/search",
            [.get: { request, _ in try .json(catalogue.search(request.searchQuery()).map(FlatBook.init)) }])
    }
}
#endif

import Backplane
import BackplaneNetwork
import BookshelfContracts

/// A client of `/v2`, with structured authors, pages, events, and loans for readers who have signed in.
final class BooksService: NetworkService {
    typealias Provides = BooksAPI
    typealias Configuration = BooksConfiguration
    let context: Context
    let configuration: Configuration
    let http: HTTPClient

    init(_ context: Context) {
        var http = context.http.relative(to: context.configuration.baseURL)
        http.defaults.failure = .decoded(Refusal.self)
        (self.context, self.http, configuration) = (context, http, context.configuration)
    }

    static func methods(_ table: inout Methods) {
        table.async(\.search) { service, words, call in
            let first = Endpoint<Page>("GET", "search", query: ["q": words, "page": "1"])
            return try await service.http.pages(first, call, next: .cursor("page") { $0.next.map(String.init) })
                .reduce(into: []) { $0 += $1.items }
        }
        table.async(\.borrow) { service, book, call in
            let loans = Endpoint<BorrowedBook>("POST", "loans", body: try .json(["book": book]))
            return try await service.http.load(service.proving(loans), call).loan
        }
        table.async(\.giveBack) { service, loan, call in
            let loan = Endpoint<Nothing>("DELETE", "loans/\(loan.encodedForQuery)")
            return try await service.http.load(service.proving(loan), call)
        }
        table.async(\.page) { service, number, call in try await service.page(number, .none, call) }
        table.async(\.browse) { service, number, call in
            try await service.page(number, .staleWhileRevalidate(.seconds(86_400)), call)
        }
        table.async(\.cover) { service, book, call in try await service.cover(of: book, call) }
        table.stream(\.text) { service, book, elements, call in
            for try await state in try await service.text(of: book, call) {
                try await elements.send(try state.textProgress)
            }
        }
        table.stream(\.events) { service, place, elements, call in
            let events = service.http.events(Endpoint("GET", "events"), call, after: place.id)
            try await elements.send(contentsOf: events.compactMap { LibraryEvent($0) })
        }
    }

    private func page(_ number: Int, _ cache: CachePolicy, _ call: Call) async throws -> CataloguePage {
        var books = Endpoint<Page>("GET", "books", query: ["page": "\(number)", "per": "\(Page.size)"])
        books.options.cache = cache
        let page = try await http.load(books, call)
        let total = page.total ?? page.items.count
        guard Page.totals.contains(total) else { throw Refusal.total(total) }
        return CataloguePage(books: page.items, pages: (total + Page.size - 1) / Page.size)
    }

    /// Returns an endpoint whose request authenticates the reader; the host requests the token.
    private func proving<Response>(_ endpoint: Endpoint<Response>) throws -> Endpoint<Response> {
        guard let credential = configuration.credential else { throw NoReader() }
        var endpoint = endpoint
        (endpoint.options.credential, endpoint.options.account) = (credential, configuration.account)
        return endpoint
    }
}

import Backplane
import BackplaneNetwork
import BookshelfContracts

/// A client of `/v2`, with structured authors, pages, events, and loans for readers who have signed in.
final class BooksService: NetworkService {
    typealias Provides = BooksAPI
    typealias Configuration = BooksConfiguration
    private let http: HTTPClient
    private let configuration: Configuration

    init(_ context: Context) {
        var http = context.http.relative(to: context.configuration.baseURL)
        http.defaults.failure = .decoded(Refusal.self)
        (self.http, configuration) = (http, context.configuration)
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
        table.stream(\.events) { service, place, elements, call in
            let events = service.http.events(Endpoint("GET", "events"), call, after: place.id)
            try await elements.send(contentsOf: events.compactMap { LibraryEvent($0) })
        }
    }

    /// Returns an endpoint whose request proves which reader sends it; the host asks for the token.
    private func proving<Response>(_ endpoint: Endpoint<Response>) throws -> Endpoint<Response> {
        guard let credential = configuration.credential else { throw NoReader() }
        var endpoint = endpoint
        (endpoint.options.credential, endpoint.options.account) = (credential, configuration.account)
        return endpoint
    }
}

import Backplane
import BackplaneNetwork
import BookshelfContracts
import FoundationEssentials

/// A books service without its own server: loans and catalogue are in a Realtime Database, covers in Cloud Storage.
///
/// | what | where |
/// |---|---|
/// | the pages of the catalogue | `catalogue/1`, `catalogue/2`, … |
/// | the loan of a book, by its identifier | `loans/moby-dick` |
/// | the cover of a book | the object `covers/moby-dick` |
final class FirebaseBooks: NetworkService {
    typealias Provides = BooksAPI
    struct Configuration: Decodable, Sendable {
        /// The URL of the library in the database, such as `firebase://library`, or its URL in the REST API.
        var database: String
        /// The URL of the bucket, such as `firebase-storage://library`, or the URL of its objects in the REST API.
        var storage: String
        /// The manifest's credential of the reader, and its account.
        var credential, account: String?
        /// The executors of requests for `catalogue`, `loans` and `covers`; by default, the scheme of a URL decides.
        ///
        /// The events of loans need the executor for Firebase.
        var executors: [String: String]?
    }
    private let context: Context
    private let configuration: Configuration
    private let database, storage: HTTPClient

    init(_ context: Context) {
        (self.context, configuration) = (context, context.configuration)
        var http = context.http
        (http.defaults.credential, http.defaults.account) = (configuration.credential, configuration.account)
        database = http.relative(to: configuration.database)
        storage = http.relative(to: configuration.storage)
    }

    static func methods(_ table: inout Methods) {
        table.async(\.search) { service, words, call in try await service.search(words, call) }
        table.async(\.borrow) { service, book, call in try await service.borrow(book, call) }
        table.async(\.giveBack) { service, loan, call in try await service.giveBack(loan, call) }
        table.async(\.page) { service, number, call in try await service.page(number, .none, call) }
        table.async(\.browse) { service, number, call in
            try await service.page(number, .staleWhileRevalidate(.seconds(86_400)), call)
        }
        table.async(\.cover) { service, book, call in try await service.cover(of: book, call) }
        table.stream(\.text) { _, _, _, _ in throw ServerError(code: "books.no-texts", message: noTexts, status: 404) }
        table.stream(\.events) { service, place, elements, call in try await service.events(place, elements, call) }
    }

    private static let noTexts = "the library in Firebase has no texts of books"

    /// Returns an endpoint of the database, whose path in the REST interface ends with `.json`.
    private func endpoint<Response>(
        _ method: String, _ path: String..., headers: HTTPHeaders = [:], body: HTTPBody = .none
    ) -> Endpoint<Response> where Response: Decodable {
        let executor = configuration.executors?[path[0]]
        var path = path
        if !configuration.database.hasPrefix("firebase:") { path[path.count - 1] += ".json" }
        var endpoint = Endpoint<Response>(method, path, headers: headers, body: body)
        endpoint.options.executor = executor
        return endpoint
    }

    // MARK: The catalogue

    /// A page as the database returns it, which keeps no empty lists.
    private struct StoredPage: Decodable, Sendable {
        struct StoredBook: Decodable, Sendable {
            var id, title, language: String
            var authors: [Author]?
            var year: Int
            var subjects: [String]?
        }
        var books: [StoredBook]?
        var pages: Int
    }

    private func page(_ number: Int, _ cache: CachePolicy, _ call: Call) async throws -> CataloguePage {
        var endpoint: Endpoint<StoredPage> = endpoint("GET", "catalogue", "\(number)")
        endpoint.options.cache = cache
        let page = try await database.load(endpoint, call)
        let books = (page.books ?? []).map { book in
            Book(
                id: book.id, title: book.title, authors: book.authors ?? [], year: book.year, language: book.language,
                subjects: book.subjects ?? [])
        }
        return CataloguePage(books: books, pages: page.pages)
    }

    private func search(_ text: String, _ call: Call) async throws -> [Book] {
        let words = text.lowercased().split(separator: " ")
        var found: [Book] = [], number = 1, pages = 1
        while number <= pages {
            let page = try await page(number, .memory(for: .seconds(60)), call)
            found += page.books.filter { book in
                let known = ([book.title] + book.authors.map(\.name) + book.subjects).joined(separator: "\n")
                    .lowercased()
                return words.allSatisfy { known.contains($0) }
            }
            (number, pages) = (number + 1, page.pages)
        }
        return found
    }

    private func cover(of book: String, _ call: Call) async throws -> StoredFile {
        let isREST = !configuration.storage.hasPrefix("firebase-storage:")
        var cover =
            isREST
            ? Endpoint<Data>("GET", ["covers/\(book)"], query: ["alt": "media"])
            : Endpoint<Data>("GET", ["covers", book])
        cover.options.executor = configuration.executors?["covers"]
        let image = try await storage.load(cover, call)
        // Each call hands over its own file, even if calls for one book overlap.
        let name = "cover-\(UUID()).svg"
        try image.write(to: URL(filePath: "\(context.folder)/\(name)"))
        return try context.stored(name)
    }

    // MARK: Loans

    private struct StoredLoan: Codable, Sendable, Equatable {
        var due: String
        /// A unique text by which a repeated request recognises its own loan.
        var mark: String?
    }
    private static let days = 21.0

    /// Borrows a book; if two readers borrow it at the same time, the second write is a conflict.
    private func borrow(_ book: String, _ call: Call) async throws -> Loan {
        // Whole seconds, because the stored date has no fractions.
        let due = Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 + Self.days * 86_400).rounded())
        let stored = StoredLoan(due: due.formatted(.iso8601), mark: "\(UUID())")
        var loan: Endpoint<Nothing> = endpoint(
            "PUT", "loans", book, headers: ["If-Match": "null_etag"], body: try .json(stored))
        loan.retry = RetryPolicy()
        do {
            _ = try await database.load(loan, call)
        } catch {
            guard error.code == .networkConflict else { throw error }
            // If the first response was lost, the repeated request conflicts with its own loan.
            let read: Endpoint<StoredLoan?> = endpoint("GET", "loans", book)
            guard try await database.load(read, call) == stored else {
                throw ServerError(code: "loan.taken", message: "`\(book)` is on loan", status: 409)
            }
        }
        return Loan(id: book, book: book, due: due)
    }

    private func giveBack(_ loan: String, _ call: Call) async throws -> Nothing {
        let read: Endpoint<StoredLoan?> = endpoint("GET", "loans", loan)
        guard try await database.load(read, call) != nil else {
            throw ServerError(code: "loan.unknown", message: "there is no loan `\(loan)`", status: 404)
        }
        let delete: Endpoint<Nothing> = endpoint("DELETE", "loans", loan)
        return try await database.load(delete, call)
    }

    /// Sends the differences between successive lists of loans as events.
    ///
    /// If reading resumes after an event, the earlier list is unknown. The first event is therefore `missed`.
    private func events(_ place: EventsAfter, _ elements: StreamSender<LibraryEvent>, _ call: Call) async throws {
        let path = configuration.database.hasPrefix("firebase:") ? "loans" : "loans.json"
        var endpoint = Endpoint<ServerEvent>("GET", path), known: Set<String>?
        endpoint.options.executor = configuration.executors?["loans"]
        for try await event in database.events(endpoint, call, after: place.id) {
            let loans = try JSONDecoder().decode([String: StoredLoan]?.self, from: Data(event.data.utf8)) ?? [:]
            let books = Set(loans.keys)
            if let known {
                for book in known.symmetricDifference(books).sorted() {
                    let kind: LibraryEvent.Kind = books.contains(book) ? .lent : .returned
                    try await elements.send(LibraryEvent(id: event.id, kind: kind, book: book))
                }
            } else if place.hasPosition {
                try await elements.send(LibraryEvent(id: event.id, kind: .missed))
            }
            known = books
        }
    }
}

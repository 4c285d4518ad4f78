import Backplane
import BackplaneNetwork
import BookshelfContracts
import FoundationEssentials

/// A client of `/v2`, with structured authors, pages, and loans for readers who have signed in.
final class BooksService: NetworkService {
    typealias Provides = BooksAPI
    struct Configuration: Decodable, Sendable {
        /// The root of the API, such as `http://127.0.0.1:8484/v2`.
        var baseURL: String
        /// The name of the reader who borrows, or `nil` if loans are not used.
        var reader: String?
        var password: String?
    }
    private let baseURL: String
    private let http: HTTPClient
    private let session: Session

    init(_ context: Context) {
        let configuration = context.configuration
        (baseURL, http) = (configuration.baseURL, context.http)
        session = Session(
            baseURL: baseURL, reader: configuration.reader, password: configuration.password, http: context.http)
    }

    static func methods(_ table: inout Methods) {
        table.async(\.search) { service, words, call in try await service.search(words, call) }
        table.async(\.borrow) { service, book, call in try await service.borrow(book, call) }
        table.async(\.giveBack) { service, loan, call in try await service.giveBack(loan, call) }
    }

    /// Fetches all pages of a search, one after the other.
    private func search(_ words: String, _ call: Call) async throws -> [Book] {
        var books: [Book] = [], page: Int? = 1
        while let number = page {
            let url = "\(baseURL)/search?q=\(words.encodedForQuery)&page=\(number)"
            let result = try await http.send(HTTPRequest("GET", url), call).decoded(Page.self)
            books += result.items
            // Ignore a next page that does not advance, so that a faulty server cannot cause an endless loop.
            page = result.next.flatMap { $0 > number ? $0 : nil }
        }
        return books
    }

    private func borrow(_ book: String, _ call: Call) async throws -> Loan {
        try await session.send("POST", "/loans", try JSONEncoder().encode(["book": book]), call).decoded(
            LoanAnswer.self
        ).loan
    }

    private func giveBack(_ loan: String, _ call: Call) async throws -> Nothing {
        try await session.send("DELETE", "/loans/\(loan.encodedForQuery)", nil, call).requireSuccess()
        return Nothing()
    }
}

private struct Page: Decodable {
    var items: [Book]
    /// The number of the next page, or `nil` on the last page.
    var next: Int?
}

/// A loan in the server's format.
private struct LoanAnswer: Decodable {
    var id, book, due: String

    var loan: Loan {
        get throws {
            Loan(id: id, book: book, due: try Date(due, strategy: .iso8601))
        }
    }
}

import Backplane
import BackplaneNetwork
import BookshelfContracts
import FoundationEssentials

/// The settings of a books service.
struct BooksConfiguration: Decodable, Sendable {
    /// The root of the API, such as `http://127.0.0.1:8484/v2`.
    var baseURL: String
    /// The manifest's credential of the borrower, or `nil` if loans are not used.
    var credential: String?
    /// The account of the credential: the reader who borrows, or `nil` for the account without a sign-in.
    var account: String?
}

/// A page of books.
struct Page: Decodable, Sendable {
    var items: [Book]
    /// The number of the next page, or `nil` on the last page.
    var next: Int?
    /// The number of books on all pages.
    var total: Int?

    /// The number of books on a page of the catalogue.
    static let size = 50
    /// The plausible numbers of books on all pages.
    static let totals = 0...1_000_000
}

/// A loan in the server's format.
struct BorrowedBook: Decodable, Sendable {
    var id, book, due: String

    var loan: Loan {
        get throws { Loan(id: id, book: book, due: try Date(due, strategy: .iso8601)) }
    }
}

/// The error of a loan without a signed-in reader.
struct NoReader: ComponentError {
    var code: String { "books.no-reader" }
    var message: String {
        "loans require a reader; set `credential` in the service's configuration to a credential of the manifest"
    }
}

extension TransferState {
    /// The progress of a text; a transfer that fails throws its error.
    var textProgress: TextProgress {
        get throws {
            switch phase {
            case .failed, .cancelled:
                throw error ?? BackplaneError(.callCancelled, "the transfer of the text was cancelled")
            default: return TextProgress(received: bytes, total: total, file: storedFile)
            }
        }
    }
}

/// The reason why the server refuses a request.
struct Refusal: ComponentError, Decodable {
    var error, message: String
    var code: String { error }

    /// Returns the error for an implausible number of books.
    static func total(_ number: Int) -> Refusal {
        Refusal(error: "books.total", message: "the server's catalogue has \(number) books; expected \(Page.totals)")
    }
}

extension LibraryEvent {
    /// Creates an event from the server's; returns `nil` for a heartbeat.
    init?(_ event: ServerEvent) {
        guard let kind = Kind(rawValue: event.name) else { return nil }
        let loan = try? JSONDecoder().decode(BorrowedBook.self, from: Data(event.data.utf8))
        self.init(id: event.id, kind: kind, book: loan?.book)
    }
}

import Backplane
import BackplaneStorage
import BookshelfContracts
import FoundationEssentials
import Glibc
import Synchronization

/// The data access controller of the library, which stores the latest search results and the loans in the host's store.
///
/// While the server is unreachable, it also answers new searches from the titles, authors and subjects of stored books.
final class BookStore: DataAccessController, ReconfigurableComponent {
    typealias Provides = Shelf
    struct Configuration: Decodable, Sendable {
        /// The maximum number of stored searches; 500 by default.
        var keep: Int?

        var limit: Int { max(1, keep ?? 500) }
    }
    private struct KeptSearch: Record {
        static let collection = "searches"
        /// The text of the search.
        var id: String
        var date: Date
        var books: [Book]
        struct Indexes: RecordIndexes { let date = Indexed<Date>("date") }
    }
    /// A book that a kept search has found.
    private struct KeptBook: Record {
        static let collection = "books"
        /// The identifier of the book.
        var id: String
        /// The date of the last search that found it.
        var date: Date
        var book: Book
        struct Indexes: RecordIndexes {
            let date = Indexed<Date>("date")
            let words = FullText("book.title", "book.authors.name", "book.subjects", prefixes: [2, 3])
        }
    }
    private struct KeptLoan: Record {
        static let collection = "loans"
        /// The identifier of the loan.
        var id: String
        var loan: Loan
        struct Indexes: RecordIndexes { let due = Indexed<Date>("loan.due") }
    }
    private let context: Context
    private let store: Store
    private let searches: RecordCollection<KeptSearch>
    private let books: RecordCollection<KeptBook>
    private let loans: RecordCollection<KeptLoan>
    private let limit: Atomic<Int>

    init(_ context: Context) {
        (self.context, store) = (context, context.store)
        (searches, books, loans) = (store.collection(), store.collection(), store.collection())
        limit = Atomic(context.configuration.limit)
    }

    func reconfigure(_ configuration: Configuration) {
        limit.store(configuration.limit, ordering: .relaxed)
    }

    static func methods(_ table: inout Methods) {
        table.async(\.keep) { store, answer, _ in try await store.keep(answer) }
        table.async(\.kept) { store, query, _ in try await store.kept(query) }
        table.async(\.lend) { store, loan, _ in try await store.lend(loan) }
        table.async(\.takeBack) { store, loan, _ in try await store.takeBack(loan) }
        table.async(\.keepCatalogue) { store, books, _ in try await store.keepCatalogue(books) }
        table.async(\.keepCover) { store, cover, _ in
            try store.context.adopt(cover.file, as: "cover-\(fileName(of: cover.book)).svg")
        }
        table.async(\.keepText) { store, text, _ in try store.keep(text) }
        table.async(\.keptText) { store, book, _ in store.keptText(of: book) }
        table.async(\.lent) { store, _, _ in try await store.lent() }
        table.stream(\.loans) { store, _, elements, _ in
            let last = try await store.loans.lastChange()
            try await elements.send(try await store.lent())
            for try await _ in store.loans.changes(since: last) { try await elements.send(try await store.lent()) }
        }
    }

    private func keepCatalogue(_ catalogue: [Book]) async throws -> Int {
        let date = Date.now
        try await store.transaction { transaction in
            let books = transaction.collection(KeptBook.self)
            for book in catalogue { try await books.save(KeptBook(id: book.id, date: date, book: book)) }
        }
        return catalogue.count
    }

    private func keep(_ text: BookFile) throws -> String {
        let name = Self.fileName(of: text.book) + ".txt"
        return try context.adopt(text.file, as: name)
    }

    private func keptText(of book: String) -> TextProgress? {
        let path = "\(context.folder)/\(Self.fileName(of: book)).txt"
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let size = Int64(status.st_size)
        return TextProgress(received: size, total: size, path: path)
    }

    /// The name of the files of a book, safe for any identifier.
    private static func fileName(of book: String) -> String {
        var name = ""
        for byte in book.utf8 {
            let isPlain = UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            name += isPlain || byte == UInt8(ascii: "-") ? String(UnicodeScalar(byte)) : "%\(byte)"
        }
        return name
    }

    private func lent() async throws -> [Loan] { try await loans.query(\.due).all().map(\.loan) }

    private func lend(_ loan: Loan) async throws -> Nothing {
        try await loans.save(KeptLoan(id: loan.id, loan: loan))
        return Nothing()
    }

    private func takeBack(_ loan: String) async throws -> Nothing {
        try await loans.delete(loan)
        return Nothing()
    }

    private func keep(_ answer: SearchAnswer) async throws -> Nothing {
        let date = Date.now
        try await store.transaction { transaction in
            let searches = transaction.collection(KeptSearch.self), books = transaction.collection(KeptBook.self)
            // Keep records that a later search has stored meanwhile. Replace unreadable records, and records dated in
            // the future, which a clock that was set back has left.
            func isLatest(_ known: Date?) -> Bool { known.map { $0 <= date || $0 > .now } ?? true }
            let text = answer.query.text
            if isLatest((try? await searches.fetch(text))?.date) {
                try await searches.save(KeptSearch(id: text, date: date, books: answer.books))
            }
            for book in answer.books where isLatest((try? await books.fetch(book.id))?.date) {
                try await books.save(KeptBook(id: book.id, date: date, book: book))
            }
        }
        try await forgetOldest(keeping: limit.load(ordering: .relaxed))
        return Nothing()
    }

    private func kept(_ query: BookQuery) async throws -> Kept<[Book]>? {
        if let search = try await searches.fetch(query.text) { return Kept(search.books, at: search.date) }
        let found: [KeptBook]
        do throws(BackplaneError) {
            // Beginnings of words match, too, because the server finds parts of words.
            let words = query.text.split(separator: " ").map { "\($0)*" }.joined(separator: " ")
            found = try await books.search(\.words, words).records
        } catch {
            // The store does not support full text, or the query has no words.
            guard error.code == .storeUnsupported || error.code == .callInvalidInput else { throw error }
            return nil
        }
        return found.map(\.date).min().map { Kept(found.map(\.book), at: $0) }
    }

    /// Deletes the oldest searches beyond a number, and the books that no remaining search has found.
    private func forgetOldest(keeping limit: Int) async throws {
        guard try await searches.count() > limit else { return }
        do {
            while try await forgetSome(keeping: limit) {}
        } catch let error as BackplaneError where error.code == .storeConflict {
            // One of the other calls that store searches at the same time deletes the oldest.
        }
    }

    /// Deletes as many searches and books as one transaction should delete.
    ///
    /// - Returns: `true` if more remain.
    private func forgetSome(keeping limit: Int) async throws -> Bool {
        try await store.transaction { transaction in
            let searches = transaction.collection(KeptSearch.self), books = transaction.collection(KeptBook.self)
            let excess = max(0, try await searches.count() - limit)
            let oldest = try await searches.query(\.date).page(limit: excess)
            let remaining = try await searches.query(\.date).page(limit: 1, after: oldest.next)
            let forgotten = oldest.records.map(\.id) + oldest.unreadable.map(\.id)
            var hasMore = forgotten.count < excess
            // A book has the date of the last search that found it.
            if let date = remaining.records.first?.date {
                let old = try await books.query(\.date, upTo: date).page(limit: 1_000)
                try await books.delete(old.records.map(\.id) + old.unreadable.map(\.id))
                hasMore = hasMore || old.next != nil
            }
            try await searches.delete(forgotten)
            return hasMore
        }
    }
}

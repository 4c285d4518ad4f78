import Backplane
import BackplaneManagers
import BackplaneStorage
import BookshelfContracts
import FoundationEssentials

/// The data access controller of the library: stores the results of the latest searches in the host's store.
final class BookStore: DataAccessController {
    typealias Provides = Shelf
    struct Configuration: Decodable, Sendable {
        /// The maximum number of stored searches; 500 by default.
        var keep: Int?
    }
    private struct KeptSearch: Record {
        static let collection = "searches"
        /// The text of the search.
        var id: String
        var date: Date
        var books: [Book]
    }
    private let searches: RecordCollection<KeptSearch>
    private let limit: Int

    init(_ context: Context) {
        searches = context.store.collection()
        limit = max(1, context.configuration.keep ?? 500)
    }

    static func methods(_ table: inout Methods) {
        table.async(\.keep) { store, answer, _ in try await store.keep(answer) }
        table.async(\.kept) { store, query, _ in try await store.kept(query) }
    }

    private func keep(_ answer: SearchAnswer) async throws -> Nothing {
        try await searches.save(KeptSearch(id: answer.query.text, date: .now, books: answer.books))
        if try await searches.count() > limit { try await forgetOldest() }
        return Nothing()
    }

    private func kept(_ query: BookQuery) async throws -> Kept<[Book]>? {
        try await searches.fetch(query.text).map { Kept($0.books, at: $0.date) }
    }

    private func forgetOldest() async throws {
        for search in try await searches.all().sorted(by: { $0.date > $1.date }).dropFirst(limit) {
            try await searches.delete(search.id)
        }
    }
}

import Backplane
import BackplaneManagers
import BookshelfContracts
import FoundationEssentials
import Synchronization

/// The manager of the library: searches and borrows, and falls back to stored results if the network fails.
final class LibraryManager: Manager {
    typealias Provides = Library
    struct Wires: Wiring {
        let dataAccessController: Wire<Shelf>
        let communicationController: Wire<LibraryNetwork>
        let clock: Wire<WallTime>?
    }
    private let wires: Wires
    private let log: Log
    private let fillers: Set<String>
    private let searches = Atomic(0)

    init(_ context: Context) throws {
        (wires, log) = (context.wires, context.log)
        fillers = Set(try JSONDecoder().decode([String].self, from: Data(try context.resources.data("fillers.json"))))
    }

    static func methods(_ table: inout Methods) {
        table.async(\.search) { manager, query, call in try await manager.search(query, call) }
        table.async(\.borrow) { manager, book, call in try await manager.borrow(book, call) }
        table.async(\.giveBack) { manager, loan, call in
            try await manager.wires.communicationController.giveBack(loan, call)
        }
        table.sync(\.count) { manager, _, _ in manager.searches.load(ordering: .relaxed) }
    }

    private func search(_ query: BookQuery, _ call: Call) async throws -> Sourced<[Book]> {
        let query = try essence(of: query)
        let books = try await Sourced.networkFirst(call) { call in
            try await wires.communicationController.find(query, call)
        } keep: { books in
            _ = try await wires.dataAccessController.keep(SearchAnswer(query: query, books: books), call)
        } kept: {
            try await wires.dataAccessController.kept(query, call)
        } unkept: { error in
            log.warning("the shelf is not usable", metadata: ["error": "\(error)"])
        }
        searches.add(1, ordering: .relaxed)
        return books
    }

    private func borrow(_ book: String, _ call: Call) async throws -> Loan {
        var loan = try await wires.communicationController.borrow(book, call)
        if let now = try wires.clock?.now(call) {
            loan.daysLeft = Int((loan.due.timeIntervalSince(now) / 86_400).rounded(.up))
        }
        return loan
    }

    /// Returns the significant words in lower case, without fillers such as `the` unless nothing else remains.
    private func essence(of query: BookQuery) throws -> BookQuery {
        let words = query.text.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
        guard !words.isEmpty else { throw NothingToSearch() }
        let meant = words.filter { !fillers.contains($0) }
        return BookQuery(text: (meant.isEmpty ? words : meant).joined(separator: " "))
    }

    struct NothingToSearch: ComponentError {
        var code: String { "library.nothing-to-search" }
        var message: String { "there is no word to search for; give some in `text`" }
    }
}

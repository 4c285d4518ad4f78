import Backplane
import BackplaneOperations
import BookshelfContracts
import FoundationEssentials
import Synchronization

/// The manager of the library, which searches and borrows, falls back to stored results if the network fails, and logs
/// reminders of due loans.
///
/// Its state is the list of the last borrowings, so that readers of ``Library/borrowings`` miss none during a swap.
final class LibraryManager: Manager, StatefulComponent {
    typealias Provides = Library
    struct Wires: Wiring {
        let dataAccessController: Wire<Shelf>
        let communicationController: Wire<LibraryNetwork>
        let clock: Wire<WallTime>?
    }
    private let wires: Wires
    private let log: Log
    private let operations: GraphQueue
    private let fillers: Set<String>
    private let searches = Atomic(0)
    private let borrowings = Borrowings()

    init(_ context: Context) throws {
        (wires, log, operations) = (context.wires, context.log, context.operations)
        fillers = Set(try JSONDecoder().decode([String].self, from: Data(try context.resources.data("fillers.json"))))
        guard wires.clock != nil else { return }
        try context.tasks.every(Self.day, jitter: .seconds(60), name: "due loans") { [self] call in
            try await remind(call)
        }
    }

    private static var day: Duration { .seconds(86_400) }

    func exportState() -> Borrowings.Kept { borrowings.kept }
    func importState(_ state: Borrowings.Kept) { borrowings.kept = state }

    static func methods(_ table: inout Methods) {
        table.async(\.search) { manager, query, call in try await manager.search(query, call) }
        table.async(\.browse) { manager, page, call in
            try await manager.wires.communicationController.browse(page, call)
        }
        table.async(\.cover) { manager, book, call in
            let file = try await manager.wires.communicationController.cover(book, call)
            return try await manager.wires.dataAccessController.keepCover(BookFile(book: book, file: file), call)
        }
        table.async(\.borrow) { manager, book, call in try await manager.borrow(book, call) }
        table.async(\.giveBack) { manager, loan, call in
            try await manager.giveBack(loan, call)
        }
        table.stream(\.loans) { manager, place, elements, call in
            for try await loans in manager.wires.dataAccessController.loans(place, call) {
                try await elements.send(try loans.map { try manager.counted($0, call) })
            }
        }
        table.stream(\.borrowings) { manager, place, elements, _ in
            var last = place.number
            while true {
                let borrowing = try await manager.borrowings.next(after: last)
                try await elements.send(borrowing)
                last = borrowing.number
            }
        }
        table.stream(\.text) { manager, book, elements, call in
            if let kept = try await manager.wires.dataAccessController.keptText(book, call) {
                return try await elements.send(kept)
            }
            for try await progress in manager.wires.communicationController.text(book, call) {
                try await elements.send(try await manager.keepingText(of: book, progress, call))
            }
        }
        table.stream(\.synchronise) { manager, _, elements, call in
            let (progress, reporting) = AsyncStream.makeStream(of: CatalogueProgress.self)
            let catalogue = CatalogueSynchronisation(manager.wires, call) { reporting.yield($0) }
            let run = manager.operations.start(try catalogue.graph())
            // A consumer that leaves the stream ends the graph.
            defer { run.cancel() }
            let end = Task {
                defer { reporting.finish() }
                return await run.outcome
            }
            for await step in progress { try await elements.send(step) }
            try Task.checkCancellation()
            try await elements.send(try await end.value.get())
        }
        table.stream(\.events) { manager, place, elements, call in
            try await elements.send(contentsOf: manager.wires.communicationController.events(place, call))
        }
        table.sync(\.count) { manager, _, _ in manager.searches.load(ordering: .relaxed) }
    }

    private func search(_ query: BookQuery, _ call: Call) async throws -> Sourced<[Book]> {
        let query = try essence(of: query)
        let books = try await Sourced.networkFirst(call, log: log) { call in
            try await wires.communicationController.find(query, call)
        } keep: { books in
            _ = try await wires.dataAccessController.keep(SearchAnswer(query: query, books: books), call)
        } kept: {
            try await wires.dataAccessController.kept(query, call)
        }
        searches.add(1, ordering: .relaxed)
        return books
    }

    private func borrow(_ book: String, _ call: Call) async throws -> Loan {
        let borrowed = try await wires.communicationController.borrow(book, call)
        borrowings.add(book)
        let loan = try counted(borrowed, call)
        do {
            _ = try await wires.dataAccessController.lend(loan, call)
        } catch {
            log.warning("a loan cannot be stored, and its reader is not reminded", metadata: ["error": "\(error)"])
        }
        return loan
    }

    /// Returns a loan with the number of days left, if there is a clock.
    private func counted(_ loan: Loan, _ call: Call) throws -> Loan {
        guard let now = try wires.clock?.now(call) else { return loan }
        var loan = loan
        loan.daysLeft = Int((loan.due.timeIntervalSince(now) / 86_400).rounded(.up))
        return loan
    }

    private func giveBack(_ loan: String, _ call: Call) async throws -> Nothing {
        do {
            let answer = try await wires.communicationController.giveBack(loan, call)
            await forget(loan, call)
            return answer
        } catch {
            // Otherwise, a loan that was returned elsewhere, or that the server has lost, would stay in the list.
            if BackplaneError(thrown: error).failure?.code == "loan.unknown" { await forget(loan, call) }
            throw error
        }
    }

    /// Deletes a loan that is over.
    private func forget(_ loan: String, _ call: Call) async {
        do {
            _ = try await wires.dataAccessController.takeBack(loan, call)
        } catch {
            log.warning("a returned loan cannot be deleted", metadata: ["error": "\(error)"])
        }
    }

    /// Stores the text of a book once it has arrived, and returns the progress for readers.
    private func keepingText(of book: String, _ progress: TextProgress, _ call: Call) async throws -> TextProgress {
        guard let file = progress.file else { return progress }
        let path = try await wires.dataAccessController.keepText(BookFile(book: book, file: file), call)
        return TextProgress(received: progress.received, total: progress.total, path: path)
    }

    /// Logs every loan that is overdue or due within a day.
    private func remind(_ call: Call) async throws {
        guard let now = try wires.clock?.now(call) else { return }
        for loan in try await wires.dataAccessController.lent(call) where loan.due <= now + Self.day / .seconds(1) {
            log.notice(
                "a loan is due",
                metadata: ["loan": loan.id, "book": loan.book, "due": loan.due.formatted(.iso8601)])
        }
    }

    /// Returns the significant words in lower case, without filler words such as `the` unless nothing else remains.
    private func essence(of query: BookQuery) throws -> BookQuery {
        let words = query.text.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
        guard !words.isEmpty else { throw NothingToSearch() }
        let meant = words.filter { !fillers.contains($0) }
        return BookQuery(text: (meant.isEmpty ? words : meant).joined(separator: " "))
    }

    struct NothingToSearch: ComponentError {
        var code: String { "library.nothing-to-search" }
        var message: String { "expected words to search for in `text`, found none" }
    }
}

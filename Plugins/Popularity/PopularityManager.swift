import Backplane
import BookshelfContracts
import Synchronization

/// The manager that counts borrowings by book, from the library's stream of borrowings.
///
/// It has no state, because a new instance rereads the borrowings that the library retains.
final class PopularityManager: Manager {
    typealias Provides = Popularity
    struct Wires: Wiring {
        let library: Wire<Library>
    }
    private let context: Context
    private let counts = Mutex<[String: Int]>([:])

    init(_ context: Context) { self.context = context }

    func activate() {
        context.tasks.run { [self] in await count() }
    }

    static func methods(_ table: inout Methods) {
        table.sync(\.ranking) { manager, _, _ in manager.ranking }
    }

    /// Counts borrowings, continuing across swaps and restarts of the library.
    private func count() async {
        do {
            for try await borrowing in context.wires.library.borrowings(BorrowingsAfter(0), context.begin()) {
                counts.withLock { $0[borrowing.book, default: 0] += 1 }
            }
        } catch {
            if error.code != .callCancelled, error.code != .callRetired {
                context.log.error("borrowings are no longer counted", metadata: ["error": "\(error)"])
            }
        }
    }

    private var ranking: [BorrowedBook] {
        counts.withLock { $0 }.map { BorrowedBook(book: $0.key, count: $0.value) }
            .sorted { ($1.count, $0.book) < ($0.count, $1.book) }
    }
}

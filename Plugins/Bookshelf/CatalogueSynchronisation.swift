import Backplane
import BackplaneOperations
import BookshelfContracts
import Synchronization

/// The synchronisation of the catalogue: its pages in parallel, the covers after them, and a report at the end.
///
/// A missing cover is counted, but causes no other failure.
final class CatalogueSynchronisation: Sendable {
    private let wires: LibraryManager.Wires
    private let call: Call
    private let report: @Sendable (CatalogueProgress) -> Void
    /// The numbers of pages and covers that have arrived.
    private let arrived = Mutex((pages: 1, covers: 0))

    init(_ wires: LibraryManager.Wires, _ call: Call, report: @escaping @Sendable (CatalogueProgress) -> Void) {
        (self.wires, self.call, self.report) = (wires, call, report)
    }

    func graph() throws -> OperationGraph<CatalogueProgress> {
        var graph = GraphBuilder("catalogue")
        let first = graph.add("first page") { [self] in try await wires.communicationController.page(1, call) }
        let rest = graph.addGraph("pages", after: first) { [self] first in try pages(after: first) }
        let stored = graph.add("store", after: first, rest) { [self] first, rest in
            let books = first.books + rest
            _ = try await wires.dataAccessController.keepCatalogue(books, call)
            return books
        }
        let covers = graph.addGraph("covers", after: stored) { [self] books in try self.covers(of: books) }
        let finish = graph.add("report", after: stored.always, covers.always) { stored, covers in
            let books = try stored.get().count, kept = try covers.get()
            return CatalogueProgress(
                step: "report", done: books, total: books, report: "\(books) books and \(kept) covers are stored")
        }
        return try graph.build(returning: finish)
    }

    /// Returns the graph of all pages but the first.
    private func pages(after first: CataloguePage) throws -> OperationGraph<[Book]> {
        var graph = GraphBuilder("pages")
        report(CatalogueProgress(step: "pages", done: 1, total: first.pages))
        let pages = (1..<max(1, first.pages)).map { number in
            graph.add("page \(number + 1)") { [self] in
                let page = try await wires.communicationController.page(number + 1, call)
                arrived.withLock { arrived in
                    arrived.pages += 1
                    report(CatalogueProgress(step: "pages", done: arrived.pages, total: first.pages))
                }
                return page.books
            }
        }
        let all = graph.add("all", afterAll: pages) { pages in pages.flatMap { $0 } }
        return try graph.build(returning: all)
    }

    /// Returns the graph of the covers, whose result is the number of stored covers.
    private func covers(of books: [Book]) throws -> OperationGraph<Int> {
        var graph = GraphBuilder("covers")
        let covers = books.map { book in
            graph.add("cover of \(book.id)") { [self] in
                let isKept = await keepCover(of: book.id)
                arrived.withLock { arrived in
                    arrived.covers += 1
                    report(CatalogueProgress(step: "covers", done: arrived.covers, total: books.count))
                }
                return isKept ? 1 : 0
            }
        }
        let count = graph.add("count", afterAll: covers) { covers in covers.reduce(0, +) }
        return try graph.build(returning: count)
    }

    private func keepCover(of book: String) async -> Bool {
        do {
            let file = try await wires.communicationController.cover(book, call)
            _ = try await wires.dataAccessController.keepCover(BookFile(book: book, file: file), call)
            return true
        } catch {
            return false
        }
    }
}

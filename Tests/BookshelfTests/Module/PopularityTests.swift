import Backplane
import BackplaneHost
import BackplaneTestKit
import Bookshelf
import BookshelfContracts
import FoundationEssentials
import Popularity
import TestFixtures
import Testing

/// Borrowings as a stream, and the plugin that counts them.
@Suite(.timeLimit(.minutes(2)))
struct PopularityTests {
    private func with(_ body: (TestHost, Remote<Library>, Remote<Popularity>) async throws -> Void) async throws {
        let manifest = Manifest(managers: [
            "LibraryManager": ManagerDefinition(className: "LibraryManager"),
            "Popularity": ManagerDefinition(className: "PopularityManager", uses: ["library": "LibraryManager"]),
        ])
        let network = Fake(LibraryNetwork.self) {
            $0.async(\.borrow) { book, _ in Loan(id: "loan of \(book)", book: book, due: .distantFuture) }
        }
        let shelf = Fake(Shelf.self) { $0.async(\.lend) { _, _ in Nothing() } }
        try await TestHost.run(
            manifest, plugins: [BookshelfPlugin.self, PopularityPlugin.self],
            fakes: [
                .communicationController(of: "LibraryManager"): network,
                .dataAccessController(of: "LibraryManager"): shelf,
            ]
        ) { host in
            try await body(host, try await host.manager("LibraryManager"), try await host.manager("Popularity"))
        }
    }

    @Test func `borrowings are given from a number on, and then as they happen`() async throws {
        try await with { _, library, _ in
            for book in ["emma", "ulysses", "emma"] { _ = try await library.borrow(book) }
            var early = library.borrowings(BorrowingsAfter(1)).makeAsyncIterator()
            let second = try await early.next()
            #expect(second == Borrowing(number: 2, book: "ulysses"))
            let third = try await early.next()
            #expect(third == Borrowing(number: 3, book: "emma"))
            let borrowing = Task { try await library.borrow("dracula") }
            let fourth = try await early.next()
            #expect(fourth == Borrowing(number: 4, book: "dracula"))
            _ = try await borrowing.value
        }
    }

    @Test func `the other plugin counts them, also after it was restarted`() async throws {
        try await with { host, library, popularity in
            for book in ["emma", "ulysses", "emma"] { _ = try await library.borrow(book) }
            let ranking = [BorrowedBook(book: "emma", count: 2), BorrowedBook(book: "ulysses", count: 1)]
            try await eventually { try popularity.ranking() == ranking }
            _ = try await host.host.reset("Popularity")
            try await eventually { try popularity.ranking() == ranking }
        }
    }
}

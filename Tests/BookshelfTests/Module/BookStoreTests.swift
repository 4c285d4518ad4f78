import Backplane
import BackplaneHost
import BackplaneTestKit
import Bookshelf
import BookshelfContracts
import Foundation
import Testing

/// The shelf behind the library: what it keeps of searches, and what it forgets.
@Suite(.timeLimit(.minutes(2)))
struct BookStoreTests {
    /// The library with a real shelf that keeps two searches, and a server that finds two books for each number.
    private func withShelf(_ test: (TestHost) async throws -> Void) async throws {
        let network = Fake(LibraryNetwork.self) { network in
            network.async(\.find) { query, _ in
                guard let number = Int(query.text) else { throw Unplugged() }
                return [number, number + 1].map {
                    Book(id: "book-\($0)", title: "Title \($0)", authors: [], year: 1865, language: "fr")
                }
            }
            network.async(\.borrow) { book, _ in
                Loan(id: "loan-\(book)", book: book, due: Date(timeIntervalSince1970: Double(book.count)))
            }
            network.async(\.giveBack) { _, _ in Nothing() }
        }
        let manager = ManagerDefinition(
            className: "LibraryManager",
            dataAccessController: ComponentDefinition(
                className: "BookStore", configuration: ["keep": .integer(2)]))
        try await TestHost.run(
            Manifest(managers: ["LibraryManager": manager]), plugins: [BookshelfPlugin.self],
            fakes: [.communicationController: network], test)
    }

    private struct Unplugged: Error {}

    @Test func `all loans are streamed at once, and again after each change`() async throws {
        try await withShelf { host in
            let library = try await host.manager(.library)
            var loans = library.loans(CurrentLoans()).makeAsyncIterator()
            #expect(try await loans.next() == [])
            _ = try await library.borrow("walden")
            #expect(try await loans.next()?.map(\.book) == ["walden"])
            _ = try await library.borrow("emma")
            #expect(try await loans.next()?.map(\.book) == ["emma", "walden"], "what is due first is first")
            _ = try await library.giveBack("loan-walden")
            #expect(try await loans.next()?.map(\.book) == ["emma"])
        }
    }

    @Test func `books of searches that are kept at the same time are not forgotten`() async throws {
        struct Search: Decodable {
            struct Found: Decodable { var id: String }
            var books: [Found]
        }
        try await withShelf { host in
            let library = try await host.manager(.library)
            for _ in 0..<20 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<8 {
                        group.addTask { _ = try await library.search(BookQuery(text: "\(number)")) }
                    }
                    try await group.waitForAll()
                }
                let books = Set(await host.store.ids(of: "books", in: "BookStore"))
                let searches = await host.store.ids(of: "searches", in: "BookStore")
                for text in searches {
                    let json = try #require(await host.store.json(text, of: "searches", in: "BookStore"))
                    let found = try JSONDecoder().decode(Search.self, from: Data(json.utf8)).books.map(\.id)
                    try #require(books.isSuperset(of: found), "\(text) has \(found), and \(books) are kept")
                }
            }
            // Whoever keeps a search alone also forgets what others have left, but for books with the date of the
            // oldest search that is kept; two searches at the same time may have the same one.
            for text in ["20", "21"] { _ = try await library.search(BookQuery(text: text)) }
            #expect(await host.store.ids(of: "searches", in: "BookStore").count == 2)
            #expect(await host.store.ids(of: "books", in: "BookStore").count <= 4)
            #expect(host.log.messages(from: "LibraryManager") == [])
        }
    }

    @Test func `a search is kept although the clock was put back after an earlier one`() async throws {
        try await withShelf { host in
            try await host.store.save(
                json: #"{"id":"7","date":32503680000,"books":[]}"#, as: "7", of: "searches", in: "BookStore")
            let library = try await host.manager(.library)
            _ = try await library.search(BookQuery(text: "7"))
            let kept = try #require(await host.store.json("7", of: "searches", in: "BookStore"))
            #expect(kept.contains("book-7") && kept.contains("book-8"))
        }
    }

    @Test func `nothing is kept for a query of signs alone, and that is no fault of the shelf`() async throws {
        try await withShelf { host in
            let library = try await host.manager(.library)
            let error = await #expect(throws: BackplaneError.self) {
                try await library.search(BookQuery(text: "?! -"))
            }
            #expect(error?.message == "\(Unplugged())")
            #expect(host.log.messages(from: "LibraryManager") == [])
        }
    }
}

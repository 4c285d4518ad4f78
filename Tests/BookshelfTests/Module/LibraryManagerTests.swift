import Backplane
import BackplaneHost
import BackplaneTestKit
import Bookshelf
import BookshelfContracts
import Foundation
import FoundationEssentials
import Popularity
import TestFixtures
import Testing

extension ManagerName where C == Library {
    static var library: Self { "LibraryManager" }
}

@Suite(.timeLimit(.minutes(2)))
struct LibraryManagerTests {
    let mobyDick = Book(
        id: "moby-dick", title: "Moby-Dick", authors: [Author(name: "Herman Melville")], year: 1851, language: "en")

    /// The manager with fakes around it.
    func withLibrary(
        network: Fake, shelf: Fake = Fake(Shelf.self), clock: TestClock = TestClock(),
        _ test: (TestHost) async throws -> Void
    ) async throws {
        let time = Fake(WallTime.self) { $0.sync(\.now) { _, _ in clock.date } }
        let fakes: [Fake.Place: Fake] = [
            .communicationController: network, .dataAccessController: shelf, .use("clock"): time,
        ]
        try await TestHost.run(
            "LibraryManager", plugins: [BookshelfPlugin.self], fakes: fakes, clock: clock, test)
    }

    @Test func `what the network finds is marked as such, and kept`() async throws {
        let kept = Recording<SearchAnswer>()
        let network = Fake(LibraryNetwork.self) { $0.async(\.find) { _, _ in [mobyDick] } }
        let shelf = Fake(Shelf.self) { shelf in
            shelf.async(\.keep) { answer, _ in
                kept.add(answer)
                return Nothing()
            }
        }
        try await withLibrary(network: network, shelf: shelf) { host in
            let library = try await host.manager(.library)
            let found = try await library.search(BookQuery(text: "The WHALE"))
            #expect(found == Sourced([mobyDick], from: .network))
            #expect(try library.count() == 1)
        }
        #expect(kept.all == [SearchAnswer(query: BookQuery(text: "whale"), books: [mobyDick])])
    }

    @Test func `when the network fails, what was kept is given with its age`() async throws {
        let network = Fake(LibraryNetwork.self) { $0.async(\.find) { _, _ in throw Unplugged() } }
        let shelf = Fake(Shelf.self) {
            $0.async(\.kept) { query, _ in
                query.text == "whale" ? Kept([mobyDick], at: Date(timeIntervalSinceNow: -3_600)) : nil
            }
        }
        try await withLibrary(network: network, shelf: shelf) { host in
            let library = try await host.manager(.library)
            let found = try await library.search(BookQuery(text: "whale"))
            #expect(found.value == [mobyDick])
            guard case .store(let age) = found.source else { throw Unmarked() }
            #expect(age >= .seconds(3_600))
            let error = await #expect(throws: BackplaneError.self) { try await library.search(BookQuery(text: "ahab")) }
            #expect(error?.message == "\(Unplugged())", "nothing was kept of that")
        }
    }

    @Test func `an answer that cannot be kept is given all the same, and the log says why`() async throws {
        let network = Fake(LibraryNetwork.self) { $0.async(\.find) { _, _ in [mobyDick] } }
        try await withLibrary(network: network) { host in
            let library = try await host.manager(.library)
            #expect(try await library.search(BookQuery(text: "whale")).value == [mobyDick])
            #expect(host.log.messages(from: "LibraryManager") == ["the value of the network was not stored"])
        }
    }

    @Test func `a loan says how many days are left by the clock`() async throws {
        let clock = TestClock()
        let loan = Loan(id: "1", book: "moby-dick", due: clock.date.addingTimeInterval(14 * 86_400))
        let network = Fake(LibraryNetwork.self) { $0.async(\.borrow) { _, _ in loan } }
        try await withLibrary(network: network, clock: clock) { host in
            let library = try await host.manager(.library)
            #expect(try await library.borrow("moby-dick").daysLeft == 14)
            clock.advance(by: .seconds(3 * 86_400))
            #expect(try await library.borrow("moby-dick").daysLeft == 11)
        }
    }

    @Test func `all loans say how many days are left by the clock`() async throws {
        let clock = TestClock()
        let due = [3, 14].map { Loan(id: "\($0)", book: "moby-dick", due: clock.date.addingTimeInterval($0 * 86_400)) }
        let shelf = Fake(Shelf.self) { $0.stream(\.loans) { _, loans, _ in try await loans.send(due) } }
        try await withLibrary(network: Fake(LibraryNetwork.self), shelf: shelf, clock: clock) { host in
            let library = try await host.manager(.library)
            var loans = library.loans(CurrentLoans()).makeAsyncIterator()
            #expect(try await loans.next()?.map(\.daysLeft) == [3, 14])
        }
    }

    @Test func `it reminds of a loan that is due, every day until it is returned`() async throws {
        let clock = TestClock(), lent = Recording<Loan>(), returned = Recording<String>()
        let loan = Loan(id: "1", book: "moby-dick", due: clock.date.addingTimeInterval(14 * 86_400))
        let network = Fake(LibraryNetwork.self) { network in
            network.async(\.borrow) { _, _ in loan }
            network.async(\.giveBack) { _, _ in Nothing() }
        }
        let shelf = Fake(Shelf.self) { shelf in
            shelf.async(\.lend) { loan, _ in
                lent.add(loan)
                return Nothing()
            }
            shelf.async(\.takeBack) { loan, _ in
                returned.add(loan)
                return Nothing()
            }
            shelf.async(\.lent) { _, _ in lent.all.filter { !returned.all.contains($0.id) } }
        }
        try await withLibrary(network: network, shelf: shelf, clock: clock) { host in
            let library = try await host.manager(.library)
            _ = try await library.borrow("moby-dick")
            try await host.clock.run(for: .seconds(12 * 86_400))
            #expect(host.log.messages(from: "LibraryManager") == [])
            try await host.clock.run(for: .seconds(2 * 86_400))
            #expect(host.log.messages(from: "LibraryManager") == ["a loan is due", "a loan is due"])
            #expect(host.log.records.last?.metadata["book"] == "moby-dick")
            _ = try await library.giveBack("1")
            try await host.clock.run(for: .seconds(7 * 86_400))
            #expect(host.log.messages(from: "LibraryManager").count == 2)
        }
    }

    @Test func `a loan that the server does not know is over, and any other refusal keeps it`() async throws {
        let returned = Recording<String>()
        let network = Fake(LibraryNetwork.self) {
            $0.async(\.giveBack) { loan, _ in
                throw ServerError(code: loan == "lost" ? "loan.unknown" : "token.unknown", message: "no", status: 404)
            }
        }
        let shelf = Fake(Shelf.self) {
            $0.async(\.takeBack) { loan, _ in
                returned.add(loan)
                return Nothing()
            }
        }
        try await withLibrary(network: network, shelf: shelf) { host in
            let library = try await host.manager(.library)
            for loan in ["lost", "kept"] {
                await #expect(throws: BackplaneError.self) { try await library.giveBack(loan) }
            }
        }
        #expect(returned.all == ["lost"])
    }

    @Test func `what the server refuses arrives with its own code`() async throws {
        let network = Fake(LibraryNetwork.self) {
            $0.async(\.borrow) { _, _ in throw ServerError(code: "loan.taken", message: "somebody has it", status: 409)
            }
        }
        try await withLibrary(network: network) { host in
            let library = try await host.manager(.library)
            let error = await #expect(throws: BackplaneError.self) { try await library.borrow("moby-dick") }
            #expect(error?.failure == BackplaneError.Failure(code: "loan.taken", details: ["status": "409"]))
        }
    }

    @Test(arguments: ["", "  ", "\n"])
    func `a search without a word is refused before anybody is asked`(text: String) async throws {
        try await withLibrary(network: Fake(LibraryNetwork.self)) { host in
            let library = try await host.manager(.library)
            let error = await #expect(throws: BackplaneError.self) { try await library.search(BookQuery(text: text)) }
            #expect(error?.failure?.code == "library.nothing-to-search")
            #expect(try library.count() == 0)
        }
    }

    struct Unplugged: Error {}
    struct Unmarked: Error {}
}

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
            let error = await error { try await library.search(BookQuery(text: "?! -")) }
            #expect(error?.message == "\(Unplugged())")
            #expect(host.log.messages(from: "LibraryManager") == [])
        }
    }
}

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

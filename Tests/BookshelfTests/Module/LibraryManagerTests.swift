import Backplane
import BackplaneHost
import BackplaneTestKit
import Bookshelf
import BookshelfContracts
import FoundationEssentials
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

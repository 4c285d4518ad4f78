#if Engines
import BackplaneTestKit
import Backplane
import BackplaneExchange
import BookshelfContracts
import Foundation
import Testing

/// The example without any server, answered by the mocks beside its manifests.
@Suite(.timeLimit(.minutes(5)))
struct MockedBookshelfTests {
    @Test(
        arguments: [
            ("cachalot", ["cruise-of-the-cachalot"]), ("Moby", ["moby-dick"]), ("the Essex", ["whale-ship-essex"]),
            ("dragon", []), ("whale", ["cruise-of-the-cachalot", "moby-dick", "whale-ship-essex"]),
        ] as [(String, [String])])
    func `a word of a title finds its book`(words: String, ids: [String]) async throws {
        let mocks = Mocks(folders: [Bookshelf.manifests + "/mocks"])
        try await Bookshelf.run(server: Bookshelf.nowhere, mocks: mocks) { _, library in
            let found = try await library.search(BookQuery(text: words))
            #expect(found.value.map(\.id) == ids)
        }
    }

    @Test func `every request of the bookshelf has a mock`() async throws {
        let mocks = Mocks(folders: [Bookshelf.manifests + "/mocks"])
        try await Bookshelf.run(server: Bookshelf.nowhere, mocks: mocks) { shelf, library in
            let found = try await library.search(BookQuery(text: "whale"))
            #expect(found.source == .network && found.value.map(\.id).contains("moby-dick"))
            let loan = try await library.borrow("moby-dick")
            #expect(loan.id == "loan-1" && shelf.signIns == 1)
            var text: TextProgress?
            for try await progress in library.text("moby-dick") { text = progress }
            #expect(try String(contentsOfFile: try #require(text?.path), encoding: .utf8).hasPrefix("Call me Ishmael"))
            var events = library.events(EventsAfter()).makeAsyncIterator()
            let kinds = [try await events.next()?.kind, try await events.next()?.kind]
            #expect(kinds == [.lent, .returned])
            _ = try await library.giveBack(loan.id)
            var catalogue: CatalogueProgress?
            for try await progress in library.synchronise(Nothing()) { catalogue = progress }
            #expect(catalogue?.report == "3 books and 3 covers are stored")
        }
    }
}
#endif

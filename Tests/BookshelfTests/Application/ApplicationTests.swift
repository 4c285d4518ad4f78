#if Engines
import BackplaneTestKit
import TestFixtures
import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BookshelfContracts
import Foundation
import Testing

/// The example through all its layers, against the real server.
@Suite(.timeLimit(.minutes(10)))
struct ApplicationTests {
    private let whale = BookQuery(text: "whale")

    @Test(arguments: ["bookshelf.json", "bookshelf.plist"])
    func `version 2 answers with structured authors`(manifest: String) async throws {
        try await RunningServer.run { server in
            try await Bookshelf.run(manifest, server: server.url) { _, library in
                let found = try await library.search(whale)
                #expect(found.source == .network)
                let book = try #require(found.value.first { $0.id == "moby-dick" })
                #expect(book.authors == [Author(name: "Herman Melville", born: 1819, died: 1891)])
                #expect(book.subjects.contains("whaling"))
            }
        }
    }

    @Test func `version 1 answers with names alone, and knows no loans`() async throws {
        try await RunningServer.run { server in
            try await Bookshelf.run("bookshelf-v1.json", server: server.url) { _, library in
                let book = try #require(try await library.search(whale).value.first { $0.id == "moby-dick" })
                #expect(book.authors == [Author(name: "Herman Melville")])
                let error = await #expect(throws: BackplaneError.self) { try await library.borrow("moby-dick") }
                #expect(error?.failure?.code == "books.not-in-v1")
            }
        }
    }

    @Test func `version 1 is served by a definition, too, whose flat books a serializer maps`() async throws {
        try await RunningServer.run { server in
            try await Bookshelf.run("bookshelf-definition.json", server: server.url) { shelf, library in
                let found = try await library.search(whale)
                #expect(found.source == .network)
                let book = try #require(found.value.first { $0.id == "moby-dick" })
                #expect(book.authors == [Author(name: "Herman Melville")])
                let error = await #expect(throws: BackplaneError.self) { try await library.borrow("moby-dick") }
                #expect(error?.code == .callUnimplemented)
                let problems = await shelf.host.check()
                #expect(problems.allSatisfy { $0.severity == .warning && $0.error.code == .callUnimplemented })
            }
        }
    }

    @Test func `the text of a borrowed book arrives with progress, and is kept`() async throws {
        let folder = try TestFolder()
        let path = try await RunningServer.run { server in
            try await Bookshelf.run(server: server.url, in: folder) { shelf, library in
                let early = await error { for try await _ in library.text("moby-dick") {} }
                #expect(early?.code == .networkStatus, "nobody has borrowed it")
                _ = try await library.borrow("moby-dick")
                var last: TextProgress?
                for try await progress in library.text("moby-dick") {
                    #expect(progress.received >= last?.received ?? 0)
                    last = progress
                }
                let path = try #require(last?.path)
                let text = try String(contentsOfFile: path, encoding: .utf8)
                #expect(
                    text.hasPrefix("Moby-Dick") && text.hasSuffix("1851.\n") && Int64(text.utf8.count) == last?.total)
                return path
            }
        }
        // What is kept needs no server.
        try await Bookshelf.run(server: Bookshelf.nowhere, in: folder) { _, library in
            for try await progress in library.text("moby-dick") { #expect(progress.path == path) }
        }
    }

    @Test func `the catalogue is synchronised by a graph, which says how far it is`() async throws {
        let folder = try TestFolder()
        try await RunningServer.run { server in
            try await Bookshelf.run(server: server.url, in: folder) { _, library in
                var steps: [CatalogueProgress] = []
                for try await progress in library.synchronise(Nothing()) { steps.append(progress) }
                let last = try #require(steps.last)
                #expect(last.report == "\(last.done) books and \(last.done) covers are stored" && last.done > 100)
                let pages = steps.filter { $0.step == "pages" }.map(\.done)
                let covers = steps.filter { $0.step == "covers" }.map(\.done)
                #expect(pages == Array(1...pages.count) && pages.count == steps.first?.total && pages.count > 1)
                #expect(covers == Array(1...last.done))
            }
        }
        // Books that nobody has searched for are found without the server.
        try await Bookshelf.run(server: Bookshelf.nowhere, in: folder) { _, library in
            let found = try await library.search(whale)
            #expect(found.source != .network && found.value.contains { $0.id == "moby-dick" })
        }
    }

    @Test func `both versions answer in one process at one time, each its own manager`() async throws {
        try await RunningServer.run { server in
            try await Bookshelf.run("bookshelf-both.json", server: server.url) { shelf, library in
                let readingRoom: Remote<Library> = try await shelf.host.manager("ReadingRoomManager")
                async let structured = library.search(whale), flat = readingRoom.search(whale)
                let (new, old) = (try await structured, try await flat)
                #expect(new.source == .network && old.source == .network)
                #expect(
                    new.value.first { $0.id == "moby-dick" }?.authors == [
                        Author(name: "Herman Melville", born: 1819, died: 1891)
                    ])
                #expect(old.value.first { $0.id == "moby-dick" }?.authors == [Author(name: "Herman Melville")])
                _ = try await library.borrow("moby-dick")
                let error = await #expect(throws: BackplaneError.self) { try await readingRoom.borrow("moby-dick") }
                #expect(error?.failure?.code == "books.not-in-v1")
            }
        }
    }

    @Test func `when the server is gone what was kept answers, also in the next host, with its age`() async throws {
        let folder = try TestFolder()
        let before = try await RunningServer.run { server in
            try await Bookshelf.run(server: server.url, in: folder) { _, library in
                try await library.search(BookQuery(text: "The Whale"))
            }
        }
        try await Bookshelf.run(server: Bookshelf.nowhere, in: folder) { _, library in
            let after = try await library.search(whale)
            #expect(after.value == before.value, "`the` is no word to search for, as the plugin's own file says")
            guard case .store(let age) = after.source else {
                Issue.record("from \(after.source)")
                return
            }
            #expect(age > .zero && age < .seconds(600))
        }
    }

    @Test func `when the server is gone the kept books are searched by title, author and subject`() async throws {
        let folder = try TestFolder()
        let before = try await RunningServer.run { server in
            try await Bookshelf.run(server: server.url, in: folder) { _, library in
                _ = try await library.search(BookQuery(text: "sea"))
                return try await library.search(whale).value
            }
        }
        try await Bookshelf.run(server: Bookshelf.nowhere, in: folder) { _, library in
            for words in ["Melville", "moby", "the whale herman", "whaling melv"] {
                let found = try await library.search(BookQuery(text: words))
                #expect(found.value == before.filter { $0.id == "moby-dick" }, "\(words)")
                #expect(found.source != .network)
            }
            let error = await error { try await library.search(BookQuery(text: "melville austen")) }
            #expect(error?.code.rawValue == "network.failed", "no book has both")
        }
    }

    @Test func `when the server is gone and nothing was kept the network's error arrives`() async throws {
        try await Bookshelf.run(server: Bookshelf.nowhere) { _, library in
            let error = await #expect(throws: BackplaneError.self) { try await library.search(whale) }
            #expect(error?.code.rawValue == "network.failed")
        }
    }

    @Test func `books are borrowed once, and given back`() async throws {
        try await RunningServer.run { server in
            try await Bookshelf.run(server: server.url) { _, library in
                let loan = try await library.borrow("moby-dick")
                #expect(loan.book == "moby-dick")
                #expect(loan.daysLeft == 14, "counted with the clock in C")
                let taken = await #expect(throws: BackplaneError.self) { try await library.borrow("moby-dick") }
                #expect(taken?.code.rawValue == "network.status" && taken?.failure?.code == "loan.taken")
                #expect(taken?.failure?.details["status"] == "409")
                _ = try await library.giveBack(loan.id)
                _ = try await library.borrow("moby-dick")
            }
        }
    }

    @Test func `events of the library cross two plugins, and go on after one that is known`() async throws {
        try await RunningServer.run { server in
            try await Bookshelf.run(server: server.url) { shelf, library in
                // Nobody knows this event, which the server says at once.
                var events = library.events(EventsAfter("unknown")).makeAsyncIterator()
                #expect(try await events.next()?.kind == .missed)
                let loan = try await library.borrow("moby-dick")
                let lent = try #require(try await events.next())
                #expect(lent.kind == .lent && lent.book == "moby-dick" && !lent.id.isEmpty)
                _ = try await library.giveBack(loan.id)
                #expect(try await events.next()?.kind == .returned)
                var again = library.events(EventsAfter(lent.id)).makeAsyncIterator()
                #expect(try await again.next()?.kind == .returned)
                // They are fed by the service of one plugin, through two components of the other.
                for (plugin, book) in [("BooksAPIv2", "azul"), ("Bookshelf", "candide")] {
                    try await shelf.rebuild(plugin)
                    _ = try await library.borrow(book)
                    #expect(try await events.next()?.book == book)
                }
            }
        }
    }
}
#endif

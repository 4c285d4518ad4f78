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
                let early = await #expect(throws: BackplaneError.self) {
                    for try await _ in library.text("moby-dick") {}
                }
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

    @Test func `when the server is gone each version's manager answers what it kept itself`() async throws {
        let folder = try TestFolder()
        try await RunningServer.run { server in
            try await Bookshelf.run("bookshelf-both.json", server: server.url, in: folder) { shelf, library in
                let readingRoom: Remote<Library> = try await shelf.host.manager("ReadingRoomManager")
                _ = try await (library.search(whale), readingRoom.search(whale))
            }
        }
        try await Bookshelf.run("bookshelf-both.json", server: Bookshelf.nowhere, in: folder) { shelf, library in
            let readingRoom: Remote<Library> = try await shelf.host.manager("ReadingRoomManager")
            let (new, old) = (try await library.search(whale), try await readingRoom.search(whale))
            #expect(new.source != .network && old.source != .network)
            #expect(new.value.first { $0.id == "moby-dick" }?.authors.first?.born == 1819)
            #expect(old.value.first { $0.id == "moby-dick" }?.authors == [Author(name: "Herman Melville")])
        }
    }

    @Test func `all pages of a long answer arrive`() async throws {
        try await RunningServer.run { server in
            let all = try await server.send("GET", "/v2/search?q=poetry&per=1")
            let total =
                try #require(try JSONSerialization.jsonObject(with: all.data) as? [String: Any])["total"] as? Int
            try #require(total ?? 0 > 20, "the page has 20 books; choose a word that finds more")
            try await Bookshelf.run(server: server.url) { _, library in
                let books = try await library.search(BookQuery(text: "poetry")).value
                #expect(books.count == total)
                #expect(Set(books.map(\.id)).count == total)
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
            let error = await #expect(throws: BackplaneError.self) {
                try await library.search(BookQuery(text: "melville austen"))
            }
            #expect(error?.code.rawValue == "network.failed", "no book has both")
        }
    }

    @Test func `when the server is gone and nothing was kept the network's error arrives`() async throws {
        try await Bookshelf.run(server: Bookshelf.nowhere) { _, library in
            let error = await #expect(throws: BackplaneError.self) { try await library.search(whale) }
            #expect(error?.code.rawValue == "network.failed")
        }
    }

    @Test func `a slow server costs the caller its deadline and no more`() async throws {
        try await RunningServer.run("--delay", "600000") { server in
            try await Bookshelf.run(server: server.url) { shelf, library in
                let error = await #expect(throws: BackplaneError.self) {
                    try await library.search(whale, shelf.host.begin(within: .milliseconds(100)))
                }
                #expect(error?.code == .callDeadline)
            }
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

    /// Borrows books at the same time, and returns how many were lent.
    private func borrow(_ books: [String], from library: Remote<Library>) async throws -> Int {
        try await withThrowingTaskGroup(of: Loan.self) { group in
            for book in books { group.addTask { try await library.borrow(book) } }
            return try await group.reduce(0) { count, _ in count + 1 }
        }
    }

    @Test func `callers that borrow at once sign in once`() async throws {
        try await RunningServer.run { server in
            try await Bookshelf.run(server: server.url) { shelf, library in
                let lent = try await borrow(["moby-dick", "walden", "hamlet", "dracula", "candide"], from: library)
                #expect(lent == 5 && shelf.signIns == 1)
            }
        }
    }

    @Test func `two readers borrow at once, each as an account of one credential`() async throws {
        try await RunningServer.run("--also", "grace:hopper") { server in
            try await Bookshelf.run(server: server.url) { manifest in
                let source = TokenSource(
                    signIn: TokenRequest("", .json(["reader": .value("reader"), "password": .value("password")])),
                    token: "/token", expires: "/expiresIn")
                manifest.network.credentials["library"] = Credential(hosts: ["127.0.0.1"], .bearer(source))
                manifest.managers["LibraryManager"]?.className = "LibraryManager"
                manifest.managers["GracesManager"] = manifest.managers["LibraryManager"]
                for (name, reader) in [("LibraryManager", "ada"), ("GracesManager", "grace")] {
                    manifest.managers[name]?.dataAccessController?.namespace = reader
                    manifest.managers[name]?.communicationController?.services[0]
                        .configuration["account"] = .string(reader)
                }
            } body: { shelf, adas in
                let graces: Remote<Library> = try await shelf.host.manager("GracesManager")
                let early = await #expect(throws: BackplaneError.self) { try await adas.borrow("hamlet") }
                #expect(early?.code == .networkCredential, "nobody has signed in")
                let network = shelf.host.network
                let ada = try await network.signIn(
                    "library", as: "ada", with: ["reader": "ada", "password": "difference-engine"])
                let grace = try await network.signIn(
                    "library", as: "grace", with: ["reader": "grace", "password": "hopper"])
                #expect(ada != grace)
                async let first = borrow(["moby-dick", "walden", "hamlet"], from: adas)
                async let second = borrow(["dracula", "candide", "azul"], from: graces)
                let counts = (try await first, try await second)
                #expect(counts.0 == 3 && counts.1 == 3 && shelf.signIns == 2)
                try network.signOut("library", account: "grace")
                let late = await #expect(throws: BackplaneError.self) { try await graces.borrow("frankenstein") }
                #expect(late?.code == .networkCredential)
                _ = try await borrow(["frankenstein"], from: adas)
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

    @Test func `a stream of events from now on ends with an error if its service is swapped before the first`()
        async throws
    {
        try await RunningServer.run { server in
            try await Bookshelf.run(server: server.url) { shelf, library in
                let reader = Task {
                    var events = library.events(EventsAfter()).makeAsyncIterator()
                    return try await events.next()
                }
                await eventually {
                    await shelf.host.statistics.contains { $0.role == "network service" && $0.streams.open > 0 }
                }
                try await shelf.rebuild("BooksAPIv2")
                let error = await #expect(throws: BackplaneError.self) { try await reader.value }
                #expect(error?.code == .streamInterrupted)
            }
        }
    }

    @Test func `a token that the server no longer takes is asked for again once, and not for ever`() async throws {
        try await RunningServer.run("--token-lifetime", "0") { server in
            try await Bookshelf.run(server: server.url) { _, library in
                let error = await #expect(throws: BackplaneError.self) { try await library.borrow("moby-dick") }
                #expect(error?.failure?.code == "token.expired", "\(String(describing: error))")
            }
        }
    }

    @Test func `only so many searches are kept, the last ones, with their books`() async throws {
        let folder = try TestFolder()
        try await RunningServer.run { server in
            try await Bookshelf.run(server: server.url, in: folder, keep: 2) { _, library in
                for word in ["austen", "sea", "moon"] { _ = try await library.search(BookQuery(text: word)) }
                #expect(try library.count() == 3)
            }
        }
        try await Bookshelf.run(server: Bookshelf.nowhere, in: folder, keep: 2) { _, library in
            await #expect(throws: BackplaneError.self) { try await library.search(BookQuery(text: "austen")) }
            await #expect(throws: BackplaneError.self) { try await library.search(BookQuery(text: "prejudice")) }
            _ = try await library.search(BookQuery(text: "sea"))
            _ = try await library.search(BookQuery(text: "moon"))
        }
    }
}
#endif

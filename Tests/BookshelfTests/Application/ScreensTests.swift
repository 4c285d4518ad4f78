#if Engines
import Backplane
import BackplaneApp
import BackplaneExchange
import BackplaneHost
import BackplaneScreens
import BackplaneTestKit
import BookshelfContracts
import Dispatch
import Foundation
import Synchronization
import Testing

/// The screens of the example, from two plugins that share no module of screens, as a person uses them.
@Suite(.timeLimit(.minutes(10)))
struct ScreensTests {
    private typealias Body = (TestWindow, Bookshelf, Remote<Library>) async throws -> Void

    /// Runs a window of the example for as long as `body` runs.
    private func show(
        _ server: String, mocks: Mocks? = nil, changing change: (inout Manifest) -> Void = { _ in }, _ body: Body
    ) async throws {
        try await Bookshelf.run(
            "bookshelf-screens.json", server: server, mocks: mocks, changing: change
        ) { shelf, library in
            try await body(try await TestWindow(AppManager(shelf.host)), shelf, library)
        }
    }

    private func showWithServer(_ body: Body) async throws {
        try await RunningServer.run { server in try await show(server.url, body) }
    }

    @Test func `a book is found, borrowed and returned, from one plugin to the other`() async throws {
        try await showWithServer { window, _, _ in
            try await window.wait { $0.hasPrefix("(Catalogue)  Loans\n") && $0.contains("Page 1 of ") }
            try await window.enter("whale melville", in: "Search")
            try await window.wait { $0.contains("\n1 book\n") }
            try await window.follow("Moby-Dick", in: "moby-dick")
            #expect(window.text.contains("‹ Catalogue\n# Moby-Dick\n"))
            #expect(window.text.contains("Herman Melville, 1851") && window.text.contains("• whaling"))
            try await window.press("Borrow")
            // The flow selects the tab of the loans, where the title is looked up.
            try await window.wait { $0.contains("(Loans)") && $0.contains("• Moby-Dick  due in 14 days  [ Return ]") }
            try await window.select(tab: "Catalogue")
            try await window.wait { $0.contains("You have borrowed this book.") && !$0.contains("[ Borrow ]") }
            try await window.select(tab: "Loans")
            try await window.press("Return")
            let question = window.window.drawing
            #expect(question.modal?.identifier == "loans.return" && question.screen?.identifier == "loans.list")
            try await window.press("Keep it")
            #expect(window.window.drawing.modal == nil)
            try await window.press("Return")
            try await window.press("Return it")
            try await window.wait { $0.hasSuffix("No book is on loan.") }
            try await window.select(tab: "Catalogue")
            try await window.wait { $0.contains("# Moby-Dick\n") && $0.contains("[ Borrow ]") }
        }
    }

    @Test func `a search that finds nothing says so, and one without a word is the catalogue`() async throws {
        try await showWithServer { window, _, _ in
            try await window.wait { $0.contains("Page 1 of ") }
            try await window.enter("no such book", in: "Search")
            try await window.wait { $0.contains("No book has all these words.") && !$0.contains("Page 1 of ") }
            try await window.enter("?!", in: "Search")
            try await window.wait { $0.contains("Search: [?!]") && $0.contains("Page 1 of ") }
        }
    }

    @Test func `the catalogue has pages and covers`() async throws {
        try await showWithServer { window, _, _ in
            let first = try await window.wait { $0.contains("Page 1 of ") }
            #expect(first.contains("[ Previous ] (disabled)"))
            try await window.press("Next")
            let second = try await window.wait { $0.contains("Page 2 of ") }
            #expect(!second.contains("[ Previous ] (disabled)"))
            try await window.press("Previous")
            try await window.wait { $0.contains("Page 1 of ") }
            let row = try #require(window.books.first)
            let cover = try await window.image(in: row.id)
            #expect(cover.address.hasSuffix(".svg"))
            #expect(try String(contentsOfFile: cover.address, encoding: .utf8).hasPrefix("<svg"))
        }
    }

    @Test func `a refused loan says why, and the button works again`() async throws {
        try await RunningServer.run { server in
            let other = try await server.signIn()
            let loan = try await server.send("POST", "/v2/loans", other, body: #"{"book": "moby-dick"}"#).text("id")
            try await show(server.url) { window, _, _ in
                try await window.wait { $0.contains("Page 1 of ") }
                try await window.enter("moby", in: "Search")
                try await window.wait { $0.contains("Moby-Dick →") && !$0.contains("Page 1 of ") }
                try await window.follow("Moby-Dick")
                try await window.press("Borrow")
                let text = try await window.wait { $0.contains("`moby-dick` is already on loan.") }
                #expect(text.contains("[ Borrow ]\n"))
                #expect(try await server.send("DELETE", "/v2/loans/\(loan)", other).status == 204)
                try await window.press("Borrow")
                try await window.wait { $0.contains("(Loans)") && $0.contains("due in 14 days") }
            }
        }
    }

    @Test func `a book that is gone has a page, which says why it is not lent`() async throws {
        try await showWithServer { window, _, _ in
            let gone = Book(id: "gone", title: "Gone", authors: [], year: 1851, language: "en")
            try await window.window.open(Destination("catalogue.book", gone))
            try await window.press("Borrow")
            try await window.first { drawing, text in
                let reason = drawing.front?.body.first { $0.id == "reason" }?.text ?? ""
                return reason.contains("There is no book `gone`.") && text.contains("[ Borrow ]\n")
            }
        }
    }

    @Test func `without the loans' plugin a book is borrowed all the same, and its page says so`() async throws {
        let books = try ScriptedBooks(), alone = ScreenSettings(root: try Destination("catalogue.list"))
        let change = { (manifest: inout Manifest) in
            manifest.plugins?.removeAll { $0.library == "LoansScreens" }
            for manager in ["LoansFlow", "LoansScreens"] { manifest.managers[manager] = nil }
            manifest.screens = alone
        }
        try await show(books.url, changing: change) { window, _, library in
            try await window.wait { $0.contains("Moby-Dick →") }
            try await window.follow("Moby-Dick")
            try await window.press("Borrow")
            try await window.wait { $0.contains("! `loans.list` cannot be shown") }
            try window.dismissAlert()
            let text = try await window.wait { $0.contains("You have borrowed this book.") }
            #expect(!text.contains("[ Borrow ]") && !text.contains("loans.list"))
            _ = try await library.giveBack("loan-1")
            try await window.wait { $0.contains("[ Borrow ]") && !$0.contains("You have borrowed this book.") }
        }
    }

    @Test func `loans of others of this host appear and disappear`() async throws {
        try await showWithServer { window, _, library in
            try await window.select(tab: "Loans")
            try await window.wait { $0.hasSuffix("# Loans\nNo book is on loan.") }
            let loan = try await library.borrow("azul")
            try await window.wait { $0.hasSuffix("# Loans\n• Azul...  due in 14 days  [ Return ]") }
            _ = try await library.giveBack(loan.id)
            try await window.wait { $0.hasSuffix("# Loans\nNo book is on loan.") }
        }
    }

    // MARK: A server that is down, and slow

    @Test func `while the server is down there is an overlay, until it is back`() async throws {
        let books = try ScriptedBooks()
        books.isDown = true
        try await show(books.url) { window, _, _ in
            let failed = try await window.wait { $0.contains("[ Try again ]  [ Cancel ]") }
            #expect(failed.contains("│ ") && failed.contains("Search: []"), "the field is not covered")
            books.isDown = false
            try await window.press("Try again")
            let back = try await window.wait { $0.contains("Moby-Dick →") }
            #expect(!back.contains("│") && !back.contains("Try again"))
        }
    }

    @Test func `what was cancelled while the server was down is loaded with a button`() async throws {
        let books = try ScriptedBooks()
        books.isDown = true
        try await show(books.url) { window, _, _ in
            try await window.wait { $0.contains("[ Try again ]") }
            try await window.press("Cancel")
            books.isDown = false
            try await window.press("Load the books")
            try await window.wait { $0.contains("Page 1 of 3") }
            books.isDown = true
            try await window.press("Next")
            try await window.wait { $0.contains("[ Try again ]") }
            try await window.press("Cancel")
            books.isDown = false
            try await window.press("Next")
            try await window.wait { $0.contains("Page 2 of 3") }
        }
    }

    @Test func `covers that could not be loaded are loaded with the next books`() async throws {
        let books = try ScriptedBooks()
        try await show(books.url) { window, _, _ in
            let essex = "whale-ship-essex"
            try await window.first { _, _ in
                window.books.first { $0.id == essex }?.children.contains { !$0.problem.isEmpty } ?? false
            }
            books.change { $0.hasCovers = true }
            try await window.enter("essex", in: "Search")
            let cover = try await window.image(in: essex)
            #expect(try String(contentsOfFile: cover.address, encoding: .utf8) == "<svg/>")
        }
    }

    @Test func `a book is returned once the server is back`() async throws {
        let books = try ScriptedBooks()
        try await show(books.url) { window, _, library in
            _ = try await library.borrow("moby-dick")
            try await window.select(tab: "Loans")
            try await window.wait { $0.contains("[ Return ]") }
            try await window.press("Return")
            books.isDown = true
            try await window.press("Return it")
            try await window.wait { $0.contains("│ │ [ Try again ]  [ Cancel ]") }
            books.isDown = false
            try await window.press("Try again")
            try await window.wait { $0.hasSuffix("No book is on loan.") }
            #expect(window.window.drawing.modal == nil)
        }
    }

    // MARK: Swaps and mocks

    @Test func `both plugins and the library are swapped under an open window`() async throws {
        try await showWithServer { window, shelf, library in
            try await window.wait { $0.contains("Page 1 of ") }
            try await window.enter("whale", in: "Search")
            let found: @Sendable (String) -> Bool = { $0.contains("Moby-Dick →") && !$0.contains("Page 1 of ") }
            let before = try await window.first { drawing, text in
                found(text) && window.books.allSatisfy { row in row.children.contains { !$0.address.isEmpty } }
            }
            try await shelf.rebuild("CatalogueScreens")
            // The new code shows what was searched for, without the person.
            let revision = try #require(before.front?.revision)
            try await window.first { drawing, text in
                (drawing.front?.revision ?? 0) > revision && text.contains("Search: [whale]") && found(text)
            }
            try await window.follow("Moby-Dick", in: "moby-dick")
            try await shelf.rebuild("CatalogueScreens")
            try await window.press("Borrow")
            try await window.wait { $0.contains("(Loans)") && $0.contains("• Moby-Dick  due in 14 days") }
            for (plugin, book) in [("LoansScreens", "azul"), ("Bookshelf", "candide")] {
                try await shelf.rebuild(plugin)
                let loan = try await library.borrow(book)
                try await window.wait { $0.components(separatedBy: "[ Return ]").count == 3 }
                _ = try await library.giveBack(loan.id)
                try await window.wait { $0.components(separatedBy: "[ Return ]").count == 2 }
            }
            try await window.select(tab: "Catalogue")
            #expect(window.window.drawing.front?.title == "Moby-Dick")
        }
    }

    @Test func `everything works with mocks, without a server`() async throws {
        let mocks = Mocks(folders: [Bookshelf.manifests + "/mocks"])
        try await show(Bookshelf.nowhere, mocks: mocks) { window, _, _ in
            try await window.wait { $0.contains("3 books") }
            try await window.enter("Essex", in: "Search")
            try await window.wait { $0.contains("\n1 book\n") && $0.contains("Whale-Ship Essex →") }
            try await window.enter("dragon", in: "Search")
            try await window.wait { $0.contains("No book has all these words.") }
            try await window.enter("", in: "Search")
            try await window.wait { $0.contains("3 books") }
            try await window.follow("Moby-Dick")
            try await window.press("Borrow")
            try await window.wait { $0.contains("(Loans)") && $0.contains("• Moby-Dick  due in ") }
            try await window.press("Return")
            try await window.press("Return it")
            try await window.wait { $0.hasSuffix("No book is on loan.") }
        }
    }

    @Test func `the manifest is sound, and lists the screens of both plugins`() async throws {
        try await Bookshelf.run("bookshelf-screens.json", server: Bookshelf.nowhere) { shelf, _ in
            let problems = await shelf.host.check()
            #expect(problems.isEmpty)
            let plugins = await shelf.host.managers.map(\.name)
            #expect(plugins.contains("CatalogueScreens") && plugins.contains("LoansScreens"))
        }
    }
}

extension TestWindow {
    /// The rows of the catalogue.
    fileprivate var books: [View] {
        window.drawing.front?.body.flatMap(\.children).first { $0.id == "books" }?.children ?? []
    }

    /// Waits for the image in a row of the catalogue.
    fileprivate func image(in row: String) async throws -> View {
        func image() -> View? { books.first { $0.id == row }?.children.first { !$0.address.isEmpty } }
        try await first { _, _ in image() != nil }
        return try #require(image())
    }

    /// Waits for a drawing that meets a condition together with its text.
    @discardableResult
    fileprivate func first(where isWanted: (WindowDrawing, String) -> Bool) async throws -> WindowDrawing {
        var revision = 0
        while let drawing = await window.drawing(after: revision) {
            if isWanted(drawing, TextRendering.text(of: drawing)) { return drawing }
            revision = drawing.revision
        }
        throw CancellationError()
    }
}

/// A server of two books on the first of three pages, of which a search for `slow` is never answered.
private final class ScriptedBooks: Sendable {
    struct State {
        var isDown = false
        var refusesSignIn = false
        var hasCovers = false
        var loanRequests = 0
    }
    /// What the script and the test share.
    private final class Control: Sendable {
        let state = Mutex(State())
    }
    let url: String
    private let control = Control()
    private let server: TestServer

    /// Changes how the server answers.
    func change(_ body: (inout State) -> Void) { control.state.withLock { body(&$0) } }

    /// Whether every connection is closed at its first request.
    var isDown: Bool {
        get { control.state.withLock { $0.isDown } }
        set { control.state.withLock { $0.isDown = newValue } }
    }
    var loanRequests: Int { control.state.withLock { $0.loanRequests } }

    private static func book(_ id: String, _ title: String) -> String {
        #"{"id": "\#(id)", "title": "\#(title)", "authors": [], "language": "en", "year": 1851, "subjects": []}"#
    }

    /// - Parameter latch: What a request for a loan waits for.
    init(loansWaitFor latch: DispatchSemaphore? = nil) throws {
        let essex = Self.book("whale-ship-essex", "Whale-Ship Essex")
        let all = Self.book("moby-dick", "Moby-Dick") + "," + essex
        server = try TestServer { [control] request, connection in
            let state = control.state.withLock(\.self)
            if state.isDown { return connection.reset() }
            func answer(_ status: String, _ text: String, as type: String = "application/json") {
                connection.answer(status, [("Content-Type", type)], body: Array(text.utf8))
            }
            let path = request.path.dropFirst()  // without the version
            switch (request.method, path.first, request.query["q"]) {
            case (_, "search", "slow"): connection.stall()
            case (_, "search", "essex"): answer("200 OK", #"{"items": [\#(essex)]}"#)
            case (_, "search", _): answer("200 OK", #"{"items": [\#(all)]}"#)
            case (_, "books", _) where path.count == 1: answer("200 OK", #"{"items": [\#(all)], "total": 120}"#)
            case (_, "books", _) where path.last == "cover" && state.hasCovers:
                answer("200 OK", "<svg/>", as: "image/svg+xml")
            case (_, "sessions", _) where state.refusesSignIn: answer("401 Unauthorized", "{}")
            case (_, "sessions", _): answer("201 Created", #"{"token": "a-token", "expiresIn": 300}"#)
            case ("POST", "loans", _):
                control.state.withLock { $0.loanRequests += 1 }
                latch?.wait()
                answer("201 Created", #"{"id": "loan-1", "book": "moby-dick", "due": "2099-12-31T12:00:00Z"}"#)
            case ("DELETE", "loans", _): connection.answer("204 No Content")
            default: answer("404 Not Found", "{}")
            }
        }
        url = "http://127.0.0.1:\(server.port)"
    }
}
#endif

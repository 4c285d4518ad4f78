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

/// The screens of the example, from two plugins that do not know each other, as a person uses them.
@Suite(.timeLimit(.minutes(10)))
struct ScreensTests {
    private typealias Body = (TestWindow, Bookshelf, Remote<Library>) async throws -> Void

    /// Runs a window of the example for as long as `body` runs.
    private func show(_ server: String, mocks: Mocks? = nil, _ body: Body) async throws {
        try await Bookshelf.run("bookshelf-screens.json", server: server, mocks: mocks) { shelf, library in
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
            try await window.press("Return")
            let question = window.window.drawing
            #expect(question.modal?.identifier == "loans.return" && question.screen?.identifier == "loans.list")
            try await window.press("Keep it")
            #expect(window.window.drawing.modal == nil)
            try await window.press("Return")
            try await window.press("Return it")
            try await window.wait { $0.hasSuffix("No book is on loan.") }
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
        try await showWithServer { window, _, library in
            let loan = try await library.borrow("moby-dick")
            try await window.wait { $0.contains("Page 1 of ") }
            try await window.enter("moby", in: "Search")
            try await window.wait { $0.contains("Moby-Dick →") && !$0.contains("Page 1 of ") }
            try await window.follow("Moby-Dick")
            try await window.press("Borrow")
            let text = try await window.wait { $0.contains("`moby-dick` is already on loan.") }
            #expect(text.contains("[ Borrow ]\n"))
            _ = try await library.giveBack(loan.id)
            try await window.press("Borrow")
            try await window.wait { $0.contains("(Loans)") && $0.contains("due in 14 days") }
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

    @Test func `a search that fails covers what was found before, and Cancel uncovers it`() async throws {
        let books = try ScriptedBooks()
        try await show(books.url) { window, _, _ in
            try await window.wait { $0.contains("Moby-Dick →") }
            books.isDown = true
            try await window.enter("nothing that was kept", in: "Search")
            try await window.wait { $0.contains("[ Try again ]") && $0.contains("░ • ") }
            try await window.press("Cancel")
            let text = window.text
            #expect(text.contains("Moby-Dick →") && !text.contains("░") && !text.contains("Try again"))
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

    @Test func `the latest search wins, although an earlier one is still not answered`() async throws {
        let books = try ScriptedBooks()
        try await show(books.url) { window, _, _ in
            try await window.wait { $0.contains("Moby-Dick →") }
            try await window.enter("slow", in: "Search")
            try await window.wait { $0.contains("│ Loading …") }
            try await window.enter("essex", in: "Search")
            let text = try await window.wait { $0.contains("Whale-Ship Essex →") && !$0.contains("Moby-Dick →") }
            #expect(text.contains("Search: [essex]") && !text.contains("Loading"))
        }
    }

    @Test func `a second press while a book is being borrowed changes nothing`() async throws {
        let latch = DispatchSemaphore(value: 0), books = try ScriptedBooks(loansWaitFor: latch)
        try await show(books.url) { window, _, _ in
            try await window.wait { $0.contains("Moby-Dick →") }
            try await window.follow("Moby-Dick")
            let screen = try #require(window.window.drawing.front?.number)
            let press = ViewEvent(.press, "borrow")
            await window.window.send(press, to: screen)
            #expect(window.text.contains("[ Borrow ] (busy"))
            await window.window.send(press, to: screen)
            latch.signal()
            try await window.wait { $0.contains("(Loans)") && $0.contains("[ Return ]") }
            #expect(books.loanRequests == 1)
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

/// A server of two books, which can be down, and of which a search for `slow` is never answered.
private final class ScriptedBooks: Sendable {
    private struct State {
        var isDown = false
        var loanRequests = 0
    }
    /// What the script and the test share.
    private final class Control: Sendable {
        let state = Mutex(State())
    }
    let url: String
    private let control = Control()
    private let server: TestServer

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
            if control.state.withLock({ $0.isDown }) { return connection.reset() }
            func answer(_ status: String, _ json: String) {
                connection.answer(status, [("Content-Type", "application/json")], body: Array(json.utf8))
            }
            let path = request.path.dropFirst()  // without the version
            switch (request.method, path.first, request.query["q"]) {
            case (_, "search", "slow"): connection.stall()
            case (_, "search", "essex"): answer("200 OK", #"{"items": [\#(essex)]}"#)
            case (_, "search", _): answer("200 OK", #"{"items": [\#(all)]}"#)
            case (_, "books", _) where path.count == 1: answer("200 OK", #"{"items": [\#(all)]}"#)
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

import Backplane
import BackplaneApp
import BackplaneHost
import BackplaneScreens
import BackplaneTestKit
import Testing

/// What a test does with the window of an application.
@Suite(.timeLimit(.minutes(5)))
struct `Windows of tests` {
    private func withWindow(_ body: (TestWindow, TestHost) async throws -> Void) async throws {
        try await TestHost.run(Manifest(managers: [:]), plugins: []) { host in
            let app = ShelfApp(host.host)
            try app.register(screen: ShelfScreen.self)
            try app.register(screen: BookScreen.self)
            let window = try await TestWindow(app)
            try await body(window, host)
            await window.close()
        }
    }

    @Test func `controls are found by their labels and rows`() async throws {
        try await withWindow { window, _ in
            #expect(
                window.text == """
                    (shelf)  Book
                    # shelf
                    Search: []
                    Sort: <Title>
                    [ ] Only available
                    Name: []
                    • Moby-Dick →  [ Borrow ]
                    • Emma →  [ Borrow ]
                    [ Reset ] (disabled)
                    nothing
                    """)
            try await window.enter("emma", in: "Search")
            #expect(window.text.contains("• Emma →  [ Borrow ]\n[ Reset ]"))
            #expect(!window.text.contains("Moby-Dick"))
            try await window.enter("", in: "Search", submitting: true)
            #expect(window.text.contains("submitted"))
            try await window.choose("Year", in: "Sort")
            try await window.toggle("Only available")
            #expect(window.text.contains("Sort: <Year>\n[x] Only available"))
            try await window.enter("Ada", in: "Name")
            #expect(window.text.contains("Name: [Ada]"))
            try await window.press("Borrow", in: "emma")
            #expect(window.text.contains("Name: [Ada]") && window.text.hasSuffix("Ada borrowed emma"))
        }
    }

    @Test func `links, tabs and the way back`() async throws {
        try await withWindow { window, _ in
            try await window.follow("Moby-Dick")
            #expect(window.text == "(shelf)  Book\n‹ shelf\n# Book\nmoby-dick")
            try await window.goBack()
            try await window.select(tab: "Book")
            #expect(window.text == "shelf  (Book)\n# Book\nnone")
            let root = await #expect(throws: ControlProblem.self) { try await window.goBack() }
            #expect(root?.description == "there is no way back from “Book”")
            let tab = await #expect(throws: ControlProblem.self) { try await window.select(tab: "Loans") }
            #expect(tab?.description == "there is no tab `Loans`; tabs: `shelf`, `Book`")
        }
    }

    @Test func `an error says which labels there are`() async throws {
        try await withWindow { window, _ in
            let unknown = await #expect(throws: ControlProblem.self) { try await window.press("Borow") }
            #expect(
                unknown?.description == """
                    there is no button `Borow`; buttons that can be used: `Borrow` in `moby-dick`, \
                    `Borrow` in `emma`
                    """)
            let several = await #expect(throws: ControlProblem.self) { try await window.press("Borrow") }
            #expect(several?.description == "2 buttons have the label `Borrow`: `moby-dick`, `emma`")
            let row = await #expect(throws: ControlProblem.self) { try await window.press("Borrow", in: "ulysses") }
            #expect(row?.description.hasPrefix("there is no button `Borrow` in the row `ulysses`") == true)
            let disabled = await #expect(throws: ControlProblem.self) { try await window.press("Reset") }
            #expect(disabled?.description.hasPrefix("there is no button `Reset` that can be used; ") == true)
            let option = await #expect(throws: ControlProblem.self) { try await window.choose("Price", in: "Sort") }
            #expect(option?.description == "`Sort` has no option `Price`; options: `Title`, `Year`")
        }
    }

    @Test func `errors of a screen are alerts`() async throws {
        try await withWindow { window, _ in
            try await window.press("Borrow", in: "moby-dick")
            #expect(window.text.hasSuffix("│ it is lent\n│ [ OK ]"))
            let covered = await #expect(throws: ControlProblem.self) { try await window.press("Borrow", in: "emma") }
            #expect(covered?.description.contains("below the alert") == true)
            try window.dismissAlert()
            #expect(!window.text.contains("it is lent"))
        }
    }

    @Test func `a test waits for drawings, up to a limit by its clock`() async throws {
        try await withWindow { window, host in
            async let text = window.wait { $0.contains("borrowed emma") }
            try await window.press("Borrow", in: "emma")
            #expect(try await text == window.text)
            async let never = window.wait(within: .seconds(5), on: host.clock) { $0.contains("Ulysses") }
            try await host.clock.expire(.seconds(5))
            do {
                _ = try await never
                Issue.record("there is no Ulysses")
            } catch let error as ControlProblem {
                #expect(error.description.contains("the condition does not hold; the window shows:\n(shelf)  Book"))
            }
        }
    }
}

/// An application of two tabs.
private final class ShelfApp: AppManager, @unchecked Sendable {  // without properties of its own
    override func setup(in window: Window) async throws {
        window.setTabs([
            try await screen(for: "shelf", in: window),
            try await screen(for: "book", data: ["id": "none"], in: window),
        ])
    }
}

private actor ShelfScreen: Screen {
    struct Lent: ComponentError {
        var code: String { "shelf.lent" }
        var message: String { "it is lent" }
    }
    static let identifier = "shelf"
    private var search = "", sort = "title", isOnly = false, note = "nothing"

    static func assemble(with input: Nothing, agent: Agent) async throws -> ShelfScreen { ShelfScreen() }

    var body: [View] {
        Field("Search", id: "search", value: search, content: .search).live()
        Choice(
            "Sort", id: "sort", value: sort,
            options: [View.Option("title", "Title"), View.Option("year", "Year")])
        Toggle("Only available", id: "only", isOn: isOnly)
        // The screen reads this field only when a button is pressed.
        Field("Name", id: "name")
        List(["moby-dick", "emma"].filter { $0.hasPrefix(search) }, id: \.self) { id in
            Link(id == "emma" ? "Emma" : "Moby-Dick", to: "book", ["id": id])
            Button("Borrow", id: "borrow")
        }
        Button("Reset", id: "reset").disabled()
        Text(note)
    }

    func handle(_ event: ViewEvent) async throws {
        switch (event.id, event.kind) {
        case ("search", .submit): note = "submitted"
        case ("search", _): search = event.value
        case ("sort", _): sort = event.value
        case ("only", _): isOnly = event.value == "true"
        case ("borrow", _):
            guard event.row != "moby-dick" else { throw Lent() }
            note = "\(event.values["name"] ?? "") borrowed \(event.row)"
        default: break
        }
    }
}

private final class BookScreen: Screen {
    struct Input: Codable, Sendable {
        var id: String
    }
    static let identifier = "book"
    let title = "Book"
    private let input: Input

    private init(_ input: Input) { self.input = input }

    static func assemble(with input: Input, agent: Agent) async throws -> BookScreen { BookScreen(input) }

    var body: [View] { Text(input.id) }
}

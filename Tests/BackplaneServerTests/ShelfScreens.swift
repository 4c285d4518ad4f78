#if Engines
import Backplane
import BackplaneApp
import BackplaneHost
import BackplaneHummingbird
import BackplaneScreens
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

// MARK: Screens

/// What the screens for real browsers show, and what they have been told: a service of the program.
final class Shelf: Sendable {
    /// The events of all screens.
    let events = Recording<ViewEvent>()
    /// The agents of the screens `shelf` and `book`.
    let agents = Recording<Agent>()
    /// The gate that searches pass, presses of `wait`, and the first load of `reserve`.
    let gate = TestGate(isOpen: true)
    /// The gate that the second load of `reserve` passes.
    let secondGate = TestGate(isOpen: true)
    /// The gate that the assembly of the screen `slow` passes.
    let assembly = TestGate()
    private let state = Mutex((books: (1...60).map { "book-\($0)" }, isDown: false, cover: ""))

    var books: [String] { state.withLock(\.books) }

    /// Whether the screen `load` cannot be loaded.
    var isDown: Bool {
        get { state.withLock(\.isDown) }
        set { state.withLock { $0.isDown = newValue } }
    }

    /// The address of the image of the screen `book`.
    var cover: String {
        get { state.withLock(\.cover) }
        set {
            state.withLock { $0.cover = newValue }
            change { _ in }
        }
    }

    /// Changes the list of every screen, all of which are drawn again.
    func change(_ body: (inout [String]) -> Void) {
        state.withLock { body(&$0.books) }
        for agent in agents.all { agent.redraw() }
    }
}

struct ShelfProblem: ComponentError {
    var code: String { "shelf.problem" }
    var message: String { "the shelf has <b>fallen</b>" }
}

/// A list of books between a search and what a person can do.
actor ShelfScreen: Screen {
    static let identifier = "shelf"
    let title = "Shelf"
    private let shelf: Shelf
    private var search = ""

    init(_ shelf: Shelf) { self.shelf = shelf }

    static func assemble(with input: Nothing, agent: Agent) async throws -> ShelfScreen {
        let shelf = try agent.resolve(service: Shelf.self)
        shelf.agents.add(agent)
        return ShelfScreen(shelf)
    }

    var body: [View] {
        Field("Search", id: "search", value: search).live()
        Text("Found: \(search)").id("found")
        Field("Note", id: "note")
        Row {
            Button("Wait", id: "wait")
            Button("Fail", id: "fail")
            Link("Question", to: "question").id("question")
            Link("Nothing", to: "nothing").id("nothing")
            Link("Page 1", to: "page", ["number": 1]).id("page")
            Link("Book", to: "book").id("book")
        }.id("actions")
        List(shelf.books, id: \.self) { book in
            Text("This is \(book)")
            Button("Borrow", id: "borrow")
        }.id("books")
    }

    func handle(_ event: ViewEvent) async throws {
        shelf.events.add(event)
        switch event.id {
        case "search":
            try await shelf.gate.pass()
            search = event.value
        case "wait": try await shelf.gate.pass()
        case "fail": throw ShelfProblem()
        default: break
        }
    }
}

/// A book with an image in the row of a list, and a button that has two loads.
actor BookScreen: Screen {
    static let identifier = "book"
    let title = "Book"
    private let shelf: Shelf, loads: Loads

    init(_ shelf: Shelf, _ loads: Loads) { (self.shelf, self.loads) = (shelf, loads) }

    static func assemble(with input: Nothing, agent: Agent) async throws -> BookScreen {
        let shelf = try agent.resolve(service: Shelf.self)
        shelf.agents.add(agent)
        return BookScreen(shelf, Loads(agent))
    }

    var body: [View] {
        List(["row"], id: \.self) { _ in
            RemoteImage(shelf.cover, description: "A cover")
            Text("The row remains")
        }
        Text("First load: \(first)").id("first")
        LoadButton("Reserve", id: "reserve", loads, "first", "second")
        Link("Slow", to: "slow").id("slow")
    }

    private var first: String {
        let state: LoadState<String> = loads["first"]
        return state.value ?? "nothing"
    }

    func handle(_ event: ViewEvent) async throws {
        loads.start("first") { [shelf] in
            try await shelf.gate.pass()
            return "done"
        }
        loads.start("second") { [shelf] in
            try await shelf.secondGate.pass()
            return "done"
        }
    }
}

/// A screen that is assembled once a gate is open.
final class SlowScreen: Screen {
    static let identifier = "slow"
    let title = "Slow"

    static func assemble(with input: Nothing, agent: Agent) async throws -> SlowScreen {
        try await agent.resolve(service: Shelf.self).assembly.pass()
        return SlowScreen()
    }

    var body: [View] { Text("This was slow") }
}

/// A modal screen.
final class QuestionScreen: Screen {
    static let identifier = "question"
    let title = "Question"
    private let agent: Agent

    init(_ agent: Agent) { self.agent = agent }

    static func assemble(with input: Nothing, agent: Agent) async throws -> QuestionScreen { QuestionScreen(agent) }

    var body: [View] {
        Text("Is it a whale?")
        Button("Yes", id: "yes").style(.strong)
    }

    func handle(_ event: ViewEvent) async throws { try await agent.dismiss() }
}

/// A screen that is covered until its load succeeds.
actor LoadScreen: Screen {
    static let identifier = "load"
    let title = "Load"
    private let shelf: Shelf, loads: Loads

    init(_ shelf: Shelf, _ loads: Loads) { (self.shelf, self.loads) = (shelf, loads) }

    static func assemble(with input: Nothing, agent: Agent) async throws -> LoadScreen {
        let shelf = try agent.resolve(service: Shelf.self), loads = Loads(agent)
        loads.start("books") { [shelf] in
            if shelf.isDown { throw ShelfProblem() }
            return shelf.books.count
        }
        return LoadScreen(shelf, loads)
    }

    var body: [View] {
        LoadOverlay(loads) {
            Text("This is below")
            Button("Below", id: "below")
        }
    }

    func handle(_ event: ViewEvent) async throws {
        shelf.events.add(event)
        _ = try await loads.handle(event)
    }
}

/// An application of the program whose windows begin with the screen `shelf`, alone or as the first of two tabs.
final class ShelfApp: AppManager, @unchecked Sendable {  // without variables of its own
    let shelf = Shelf()
    private let hasTabs: Bool

    init(of host: PluginHost, hasTabs: Bool) throws(BackplaneError) {
        self.hasTabs = hasTabs
        super.init(host)
        register(service: shelf)
        try register(screen: ShelfScreen.self)
        try register(screen: BookScreen.self)
        try register(screen: SlowScreen.self)
        try register(screen: QuestionScreen.self)
        try register(screen: LoadScreen.self)
        try register(screen: NumberedPage.self)
    }

    override func setup(in window: Window) async throws {
        let root = try await screen(for: "shelf", in: window)
        guard hasTabs else { return window.setRoot(root) }
        window.setTabs([root, try await screen(for: "page", data: ["number": 7], in: window)])
    }

    override func show(
        _ screen: WindowScreen, from source: WindowScreen?, identifier: String, in window: Window
    ) async throws {
        if identifier == "question" { window.present(screen) } else { window.push(screen, onto: source) }
    }
}

// MARK: Browsers

extension WebBrowser {
    /// Opens the page of a screen, and returns once its script is connected.
    func openScreen(at address: String) async throws {
        try await open(address)
        try await waitForConnection()
    }

    /// Waits until the page receives what its window shows.
    func waitForConnection() async throws { try await wait(for: "!document.body.dataset.window") }
}

/// A host with the screens of the program, its server, and a real browser that is signed in.
struct ShownShelf: Sendable {
    let host: TestHost
    let shelf: Shelf
    let browser: WebBrowser
    /// The address of the server.
    let address: String

    /// Runs a host and a browser, which must not complain about its pages.
    static func run(
        _ settings: WebBrowser.Settings = WebBrowser.Settings(), hasTabs: Bool = false,
        _ body: (ShownShelf) async throws -> Void
    ) async throws {
        try await TestHost.run(Manifest(managers: [:]), plugins: []) { host in
            let app = try ShelfApp(of: host.host, hasTabs: hasTabs)
            try await WebScreens.running(app) { screens, port, _ in
                try await WebBrowser.run(settings) { browser in
                    let address = "http://127.0.0.1:\(port)"
                    try await browser.open(screens.signInAddress(at: address))
                    try await browser.waitForConnection()
                    try await body(ShownShelf(host: host, shelf: app.shelf, browser: browser, address: address))
                    let complaints = try await browser.complaints()
                    #expect(complaints == [])
                }
            }
        }
    }
}
#endif

import Backplane
import BackplaneHost
import BackplaneScreens
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneApp

/// What the buttons of scripted screens do, by their ids: a service of the program.
struct Script: Sendable {
    typealias Action = @Sendable (Agent) async throws -> String
    /// The actions, each of which returns the text that the screen then shows.
    var buttons: [String: Action] = [:]
    /// What a scripted screen does while it is assembled.
    var assembly: @Sendable (Agent) async throws -> Void = { _ in }
    /// What a page with a number does while it is assembled.
    var pageAssembly: @Sendable (Int) async throws -> Void = { _ in }
    /// The agents of pages in the order in which they were assembled.
    let agents = Recording<Agent>()
    /// The numbers of the pages whose assembly has begun.
    let pages = Recording<Int>()
}

/// A screen of the program with the buttons of the script.
actor ScriptedScreen: Screen {
    static let identifier = "home"
    private let script: Script, agent: Agent
    private var note = "nothing"

    init(_ script: Script, _ agent: Agent) { (self.script, self.agent) = (script, agent) }

    static func assemble(with input: Nothing, agent: Agent) async throws -> ScriptedScreen {
        let script = try agent.resolve(service: Script.self)
        try await script.assembly(agent)
        return ScriptedScreen(script, agent)
    }

    var title: String { "Home" }

    var body: [View] {
        Text(note)
        for id in script.buttons.keys.sorted() { Button(id, id: id).disabled(id == "disabled") }
    }

    func handle(_ event: ViewEvent) async throws {
        note = try await script.buttons[event.id]?(agent) ?? "unknown \(event.id)"
    }
}

/// A page with a number.
final class PageScreen: Screen {
    struct Input: Codable, Sendable {
        var number: Int
    }
    static let identifier = "page"
    private let input: Input, agent: Agent

    init(_ input: Input, _ agent: Agent) { (self.input, self.agent) = (input, agent) }

    static func assemble(with input: Input, agent: Agent) async throws -> PageScreen {
        let script = try agent.resolve(service: Script.self)
        script.pages.add(input.number)
        script.agents.add(agent)
        try await script.pageAssembly(input.number)
        return PageScreen(input, agent)
    }

    var title: String { "Page \(input.number)" }

    var body: [View] {
        Text("This is page \(input.number)")
        Button("Leave", id: "leave")
    }

    func handle(_ event: ViewEvent) async throws { try await agent.dismiss() }
}

/// A screen that is never assembled.
final class FailingScreen: Screen {
    static let identifier = "failing"

    static func assemble(with input: Nothing, agent: Agent) async throws -> FailingScreen { throw Broken() }

    var body: [View] { [] }
}

/// The error of a screen.
struct Broken: ComponentError {
    var code: String { "test.broken" }
    var message: String { "it is broken" }
}

extension AppManager {
    /// Runs a test with an application of the program, whose windows begin with the scripted screen.
    static func run(
        _ script: Script = Script(), _ manifest: Manifest = Manifest(managers: [:]),
        plugins: [any Plugin.Type] = [], make: (PluginHost) -> AppManager = { ProgramApp($0) },
        _ body: (AppManager, TestHost) async throws -> Void
    ) async throws {
        try await TestHost.run(manifest, plugins: plugins) { host in
            let app = make(host.host)
            app.register(service: script)
            try app.register(screen: ScriptedScreen.self)
            try app.register(screen: PageScreen.self)
            try app.register(screen: FailingScreen.self)
            try await body(app, host)
        }
    }

    /// Runs a test with a window of such an application.
    static func withWindow(
        _ script: Script = Script(), _ manifest: Manifest = Manifest(managers: [:]),
        plugins: [any Plugin.Type] = [], make: (PluginHost) -> AppManager = { ProgramApp($0) },
        _ body: (Window, AppManager, TestHost) async throws -> Void
    ) async throws {
        try await run(script, manifest, plugins: plugins, make: make) { app, host in
            try await body(try await app.makeWindow(), app, host)
        }
    }
}

/// An application whose windows begin with the screen `home`.
class ProgramApp: AppManager, @unchecked Sendable {  // without properties of its own
    override func setup(in window: Window) async throws {
        window.setRoot(try await screen(for: "home", in: window))
    }
}

extension Window {
    /// The titles of the selected stack's top and of the screens to which one goes back from it.
    var path: [String] { [drawing.front?.back, drawing.front?.title].compactMap(\.self) }

    /// The texts of the front screen.
    var texts: [String] { drawing.front?.body.filter { $0.kind == .text || $0.kind == .heading }.map(\.text) ?? [] }

    /// Presses a button of the front screen.
    func press(_ id: String, rows: [String] = []) async {
        guard let front = drawing.front else { return }
        await send(ViewEvent(.press, id, rows: rows), to: front.number)
    }

    /// Waits for a drawing that meets a condition.
    @discardableResult
    func first(where isWanted: (WindowDrawing) -> Bool) async throws -> WindowDrawing {
        var revision = 0
        while let drawing = await drawing(after: revision) {
            if isWanted(drawing) { return drawing }
            revision = drawing.revision
        }
        throw CancellationError()
    }
}

extension Agent {
    /// Returns whether the agent can do nothing any more, because its screen has gone.
    var isInert: Bool {
        do throws(BackplaneError) {
            _ = try resolve(service: Script.self)
            return false
        } catch { return error.code == .screenClosed }
    }
}

/// Returns the code of the error that a function throws; `none` if it throws none.
func code(_ body: () async throws -> Void) async -> String {
    do {
        try await body()
        return "none"
    } catch { return BackplaneError(thrown: error).code.rawValue }
}

extension WindowDrawing {
    /// Returns the drawing of a window whose screen has the number 1.
    static func of(
        _ title: String = "Books", tabs: [String] = [], selected: Int = 0, back: String? = nil, modal: Shown? = nil,
        alert: Alert? = nil, isLoading: Bool = false, @ViewBuilder _ body: () -> [View]
    ) -> WindowDrawing {
        WindowDrawing(
            revision: 1, tabs: tabs.map { Tab(identifier: $0, title: $0) }, selected: selected,
            screen: .of(title, number: 1, back: back, body), modal: modal, alert: alert, isLoading: isLoading)
    }
}

extension WindowDrawing.Shown {
    static func of(
        _ title: String, number: Int, back: String? = nil, @ViewBuilder _ body: () -> [View]
    ) -> WindowDrawing.Shown {
        WindowDrawing.Shown(
            number: number, identifier: title, destination: .to(title), title: title, body: body(), revision: 1,
            back: back)
    }
}

extension Destination {
    /// Returns the destination of a screen without an input.
    static func to(_ screen: String) -> Destination {
        do { return try Destination(screen) } catch { fatalError("\(error)") }
    }
}

/// A generator of random bodies within the limits of views, with few texts and ids, so that bodies resemble each other.
struct RandomBody: RandomNumberGenerator {
    private var state: UInt64

    init(seed: Int) { state = 0x9E37_79B9_7F4A_7C15 &* UInt64(seed + 1) }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }

    mutating func body(depth: Int = 3) -> [View] {
        var ids = (0..<8).map { "k\($0)" }.shuffled(using: &self)
        return (0..<Int.random(in: 0...5, using: &self)).map { _ in
            var view = self.view(depth: depth)
            let needsID = [.button, .field, .choice, .toggle].contains(view.kind)
            if needsID || Bool.random(using: &self) { view.id = ids.removeLast() }
            return view
        }
    }

    private mutating func view(depth: Int) -> View {
        let leaves: [View.Kind] = [.text, .heading, .field, .choice, .toggle, .button, .link, .progress, .image]
        let containers: [View.Kind] = [.column, .row, .section, .list, .table, .overlay]
        let kind = (depth > 0 && Bool.random(using: &self) ? containers : leaves).randomElement(using: &self)!
        var view = View(kind, text: ["", "鯨 & <b>", "a"].randomElement(using: &self)!)
        switch kind {
        case .table:
            view.options = [View.Option("Title"), View.Option("Year")]
            view.children = (0..<Int.random(in: 0...3, using: &self)).map { number in
                var cells = [self.view(depth: depth - 1), self.view(depth: 0)]
                for index in cells.indices { cells[index].id = "c\(index)" }
                return View(.record, id: "r\(number)", children: cells)
            }.shuffled(using: &self)
        case .column, .row, .section, .list, .overlay: view.children = body(depth: depth - 1)
        case .heading: view.level = Int.random(in: 1...3, using: &self)
        case .progress: view.fraction = [nil, 0, 0.5].randomElement(using: &self)!
        case .choice: (view.options, view.value) = ([View.Option("x"), View.Option("y", "Y")], "y")
        case .link: view.destination = Bool.random(using: &self) ? .to("page") : nil
        default: view.isDisabled = Bool.random(using: &self)
        }
        return view
    }
}

import Backplane
import BackplaneApp
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneScreens
import BackplaneTestKit
import TestFixtures
import Testing

/// How screens are presented: by an application that overrides it, by the manifest, or by a plugin.
@Suite(.timeLimit(.minutes(5)))
struct `Presentation of screens` {
    private static let opening: Script.Action = { agent in
        try await agent.performSegue(to: "page", data: ["number": 1])
        return "opened"
    }

    // MARK: Overridden

    @Test func `A program decides from the identifier and the source`() async throws {
        let made = Recording<String>()
        try await AppManager.withWindow(
            Script(buttons: ["open": Self.opening]), make: { DecidingApp.make($0, made) }
        ) { window, _, _ in
            await window.press("open")
            #expect(window.drawing.modal?.identifier == "page" && window.drawing.screen?.identifier == "home")
            #expect(made.all == ["show page from home"])
            await window.press("leave")
            #expect(window.drawing.modal == nil)
            await window.goBack()
            #expect(made.all == ["show page from home", "dismiss page", "dismiss home"])
            try await window.open(try Destination(PageScreen.self, PageScreen.Input(number: 5)))
            #expect(made.all.last == "show page from nothing")
        }
    }

    @Test func `A screen with two identifiers is dismissed by the one with which it was requested`() async throws {
        let made = Recording<String>()
        try await AppManager.withWindow(make: { DecidingApp.make($0, made) }) { window, app, _ in
            try app.register(screen: PageScreen.self, forIdentifier: "leaf")
            for identifier in ["leaf", "page"] {
                try await window.open(try Destination(identifier, ["number": 1]))
                await window.press("leave")
                try await window.open(try Destination(identifier, ["number": 2]))
                await window.goBack()
            }
            let dismissals = made.all.filter { $0.hasPrefix("dismiss ") }
            #expect(dismissals == ["dismiss leaf", "dismiss leaf", "dismiss page", "dismiss page"])
        }
    }

    @Test func `An error of the program is that of the segue, and an alert`() async throws {
        let codes = Recording<String>()
        let script = Script(buttons: [
            "open": { agent in
                codes.add(await code { try await agent.performSegue(to: "page", data: ["number": 13]) })
                return "tried"
            }
        ])
        try await AppManager.withWindow(script, make: { DecidingApp.make($0, Recording()) }) { window, _, _ in
            await window.press("open")
            #expect(codes.all == ["component.failed"])
            #expect(window.drawing.alert?.message == "it is broken")
            // The page was not shown, so that it is closed.
            let agent = try await script.agents.first(1)[0]
            await eventually { agent.isInert }
        }
    }

    @Test func `A transition may request others of its own window`() async throws {
        let script = Script(buttons: ["open": Self.opening])
        try await AppManager.withWindow(script, make: { LeapingApp($0) }) { window, _, _ in
            await window.press("open")
            #expect(window.path == ["Page 1", "Page 2"])
        }
    }

    // MARK: Tabs and addresses

    @Test func `An address reveals what is there, and shows anything else`() async throws {
        try await AppManager.withWindow(Script(buttons: ["open": Self.opening]), make: { TabbedApp($0) }) {
            window, _, _ in
            let home = try Destination("home"), eight = try Destination("page", ["number": 8])
            await window.press("open")
            let page = try #require(window.front)
            try await window.open(page.destination)
            #expect(window.front === page)
            try await window.open(home)
            #expect(window.path == ["Home"] && window.drawing.selected == 0)
            try await window.open(eight)
            #expect(window.path == ["Page 8"] && window.drawing.selected == 1)
            try await window.open(page.destination)
            #expect(window.path == ["Page 8", "Page 1"])
            let unknown = await error { try await window.open(try Destination("nowhere")) }
            #expect(unknown?.code == .screenUnknown && window.drawing.alert == nil)
        }
    }

    @Test func `A program changes what is shown at any time`() async throws {
        try await AppManager.withWindow { window, app, _ in
            func page(_ number: Int) async throws -> WindowScreen {
                try await app.screen(for: "page", data: ["number": number], in: window)
            }
            window.push(try await page(1))
            window.replace(try await page(2))
            window.present(try await page(3))
            #expect(window.drawing.screen?.title == "Page 2" && window.drawing.screen?.back == "Home")
            #expect(window.drawing.modal?.title == "Page 3" && window.drawing.modal?.back == nil)
            window.pop()
            window.push(try await page(4))
            window.popToRoot()
            #expect(window.path == ["Home"])
            let home = try #require(window.front), five = try await page(5)
            window.setTabs([five, home], titles: ["Five"])
            #expect(window.drawing.tabs.map(\.title) == ["Five", "Home"])
            window.setRoot(home)
            // It has been closed.
            window.push(five)
            #expect(window.path == ["Home"] && window.drawing.tabs.isEmpty)
        }
    }

    // MARK: Drawings and events

    @Test func `A drawing is the newest, and comes once something has changed`() async throws {
        let script = Script(buttons: ["a": { _ in "a" }, "b": { _ in "b" }, "disabled": { _ in "disabled" }])
        try await AppManager.withWindow(script) { window, _, _ in
            let first = window.drawing
            async let next = window.drawing(after: first.revision)
            await window.press("a")
            let newer = await next
            #expect(newer.map { $0.revision > first.revision } == true)
            await window.press("b")
            let last = await window.drawing(after: first.revision)
            #expect(last == window.drawing && last?.screen?.body.first?.text == "b")
            let waiting = Task { await window.drawing(after: window.drawing.revision) }
            waiting.cancel()
            #expect(await waiting.value == nil)
        }
    }

    @Test func `A revision of a window is always the same drawing`() async throws {
        let presses = Recording<String>()
        let script = Script(buttons: [
            "count": { _ in
                presses.add("count")
                return "\(presses.all.count)"
            }
        ])
        try await AppManager.withWindow(script) { window, _, _ in
            let reader = Task {
                var seen: [Int: WindowDrawing] = [:]
                while !Task.isCancelled {
                    let drawing = window.drawing
                    if let former = seen.updateValue(drawing, forKey: drawing.revision), former != drawing {
                        return false
                    }
                    await Task.yield()
                }
                return true
            }
            for _ in 1...300 { await window.press("count") }
            reader.cancel()
            #expect(await reader.value)
            #expect(window.texts == ["300"])
        }
    }

    @Test func `Events of what has gone or is disabled are ignored`() async throws {
        let script = Script(buttons: ["a": { _ in "a" }, "disabled": { _ in "disabled" }])
        try await AppManager.withWindow(script) { window, _, _ in
            let home = try #require(window.front)
            await window.press("gone")
            await window.press("disabled")
            await window.press("a", rows: ["row"])
            await window.send(ViewEvent(.change, "a", value: "x"), to: home.number)
            await window.send(ViewEvent(.press, "a"), to: home.number + 1)
            #expect(window.texts == ["nothing"])
            await window.press("a")
            #expect(window.texts == ["a"])
        }
    }

    @Test func `Loads of several components and of the program count together, however they end`() async throws {
        let definition = ManagerDefinition(
            className: "Reader", communicationController: ComponentDefinition(className: "ReaderCommunication"))
        let manifest = Manifest(managers: ["Letters": definition, "News": definition])
        try await AppManager.withWindow(Script(), manifest, plugins: [ReaderPlugin.self]) { window, _, host in
            try await Self.loadTogether(window, host)
        }
    }

    private static func loadTogether(_ window: Window, _ host: TestHost) async throws {
        func url(_ name: String) -> String { "https://\(name).example.org/" }
        let (failing, cancelled, succeeding) = (TestGate(), TestGate(), TestGate()), network = host.host.network
        host.http.on("POST", url("letters"), .noConnection.held(at: failing))
        host.http.on("POST", url("news"), .json(text: "[]").held(at: cancelled))
        host.http.on("POST", url("books"), .json(text: "[]").held(at: succeeding))
        let letters = try await host.manager("Letters", as: Reading.self)
        let news = try await host.manager("News", as: Reading.self)
        let (lettersURL, newsURL, booksURL) = (url("letters"), url("news"), url("books"))
        let first = Task { await code { _ = try await letters.read(lettersURL) } }
        let second = Task { await code { _ = try await news.read(newsURL) } }
        let third = Task { await code { _ = try await network.send(HTTPRequest("POST", booksURL)) } }
        for gate in [failing, cancelled, succeeding] { try await gate.arrivals() }
        try await host.clock.expire(.milliseconds(100))
        try await window.first { $0.isLoading }
        // Nothing is shown of a request while an equal one is in flight, and the other one goes on.
        #expect(await code { _ = try await network.send(HTTPRequest("POST", booksURL)) } == "network.redundant")
        #expect(window.drawing.isLoading)
        failing.open()
        #expect(await first.value == "network.failed")
        #expect(window.drawing.isLoading)
        second.cancel()
        #expect(await second.value == "call.cancelled")
        #expect(window.drawing.isLoading)
        succeeding.open()
        #expect(await third.value == "none")
        try await window.first { !$0.isLoading }
    }

    // MARK: Flows

    @Test func `A flow of a plugin decides`() async throws {
        let script = Script(buttons: [
            "open": Self.opening,
            "other": { agent in
                try await agent.performSegue(to: "page", data: ["number": 2])
                return "shown"
            },
            "none": { agent in
                try await agent.performSegue(to: "page", data: ["number": 3])
                return "not shown"
            },
        ])
        try await AppManager.withWindow(
            script, try manifest(), plugins: [FlowPlugin.self],
            make: {
                AppManager($0)
            }
        ) { window, _, _ in
            #expect(window.path == ["Home"])
            await window.press("open")
            #expect(window.drawing.modal?.title == "Page 1")
            await window.press("leave")
            #expect(window.drawing.modal == nil)
            await window.press("other")
            #expect(window.path == ["Home", "Page 20"])
            await window.press("leave")
            #expect(window.path == ["Home"])
            await window.press("none")
            #expect(window.path == ["Home"] && window.texts == ["not shown"])
            await eventually { script.agents.all.allSatisfy { $0.isInert } }
        }
    }

    @Test func `A flow sets a window up, or leaves that to the manifest`() async throws {
        try await AppManager.run(
            Script(), try manifest(["begins": 100]), plugins: [FlowPlugin.self], make: { AppManager($0) }
        ) {
            app, _ in
            let window = try await app.makeWindow()
            #expect(window.path == ["Page 100"])
        }
    }

    @Test func `A decision that makes no sense is an error`() async throws {
        let codes = Recording<String>()
        let script = Script(buttons: [
            "push": { agent in
                codes.add(await code { try await agent.performSegue(to: "page", data: ["number": 4]) })
                return "tried"
            }
        ])
        try await AppManager.withWindow(
            script, try manifest(), plugins: [FlowPlugin.self],
            make: {
                AppManager($0)
            }
        ) { window, _, _ in
            await window.press("push")
            #expect(window.path == ["Home", "Page 4"])
            await window.press("leave")
            #expect(window.path == ["Home", "Page 4"])
            #expect(window.drawing.alert?.title == "“Page 4” cannot be left")
            #expect(window.drawing.alert?.message.contains("`push` without a screen") == true)
            window.dismissAlert()
            #expect(window.drawing.alert == nil && codes.all == ["none"])
        }
    }

    private func manifest(_ configuration: [String: ManifestValue] = [:]) throws -> Manifest {
        Manifest(
            managers: ["TestFlow": ManagerDefinition(configuration: configuration)],
            screens: ScreenSettings(root: try Destination("home"), flow: "TestFlow"))
    }
}

/// An application that presents pages as modal screens, and records what it has decided.
private final class DecidingApp: ProgramApp, @unchecked Sendable {
    private let made: Recording<String>

    private init(_ host: PluginHost, _ made: Recording<String>) {
        self.made = made
        super.init(host)
    }

    static func make(_ host: PluginHost, _ made: Recording<String>) -> AppManager { DecidingApp(host, made) }

    override func show(
        _ screen: WindowScreen, from source: WindowScreen?, identifier: String, in window: Window
    ) async throws {
        made.add("show \(identifier) from \(source?.identifier ?? "nothing")")
        if screen.destination.input.contains("13") { throw Broken() }
        window.present(screen)
    }

    override func dismiss(_ screen: WindowScreen, identifier: String, in window: Window) async throws {
        made.add("dismiss \(identifier)")
        try await super.dismiss(screen, identifier: identifier, in: window)
    }
}

/// An application that opens page 2 whenever it shows page 1.
private final class LeapingApp: ProgramApp, @unchecked Sendable {
    override func show(
        _ screen: WindowScreen, from source: WindowScreen?, identifier: String, in window: Window
    ) async throws {
        try await super.show(screen, from: source, identifier: identifier, in: window)
        if screen.drawing.title == "Page 1" { try await window.open(try Destination("page", ["number": 2])) }
    }
}

/// An application with two tabs.
private final class TabbedApp: ProgramApp, @unchecked Sendable {
    override func setup(in window: Window) async throws {
        window.setTabs(
            [
                try await screen(for: "home", in: window),
                try await screen(for: "page", data: ["number": 8], in: window),
            ], titles: ["Start"])
    }
}

private struct ReaderPlugin: Plugin {
    static let id = "org.example.reader"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) {
        registrar.add(Reader.self)
        registrar.add(ReaderCommunication.self)
    }
}

private struct Reading: Contract {
    static let name = "Reading"
    static let version: Version = "1.0.0"
    /// Sends a request to an address.
    let read = AsyncMethod<String, Nothing>()
}

private final class Reader: Manager {
    typealias Provides = Reading
    struct Wires: Wiring {
        let communicationController: Wire<Reading>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.read) { reader, url, call in try await reader.wires.communicationController.read(url, call) }
    }
}

private final class ReaderCommunication: CommunicationController {
    typealias Provides = Reading
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.read) { reader, url, call in
            _ = try await reader.context.http.send(HTTPRequest("POST", url), call)
            return Nothing()
        }
    }
}

private struct FlowPlugin: Plugin {
    static let id = "org.example.test-flow"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(TestFlow.self) }
}

/// A flow that decides from the number of a page.
private final class TestFlow: Manager {
    typealias Provides = Flow
    struct Configuration: Decodable, Sendable {
        /// The page that windows begin with.
        var begins: Int?
    }
    private let begins: Int?

    init(_ context: Context) { begins = context.configuration.begins }

    static func methods(_ table: inout Methods) {
        table.async(\.setup) { me, _, _ in
            guard let begins = me.begins else { return .none }
            return .replace(try Destination("page", ["number": begins]))
        }
        table.async(\.show) { _, request, _ in
            let input = request.screen?.input ?? ""
            if input.hasSuffix(":1}") { return .present() }
            if input.hasSuffix(":2}") { return .push(try Destination("page", ["number": 20])) }
            return input.hasSuffix(":3}") ? FlowDecision.none : .push()
        }
        table.async(\.dismiss) { _, request, _ in
            request.screen?.input.hasSuffix(":4}") == true ? .push() : .pop
        }
    }
}

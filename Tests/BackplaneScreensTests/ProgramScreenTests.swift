import Backplane
import BackplaneHost
import BackplaneScreens
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneApp

/// Screens of the program itself: their services, their segues and their ends.
@Suite(.timeLimit(.minutes(5)))
struct `Screens of a program` {
    // MARK: Services and registration

    @Test func `An agent finds services by type, by protocol and by condition`() async throws {
        let script = Script(buttons: [
            "type": { try $0.resolve(service: Lamp.self).name },
            "protocol": { try $0.resolve(service: (any Named).self).name },
            "condition": { try $0.resolve(service: (any Named).self) { $0.name.count > 4 }.name },
            "missing": { try $0.resolve(service: Nobody.self).name },
        ])
        try await AppManager.withWindow(script) { window, app, _ in
            app.register(service: Lamp(name: "lamp"))
            app.register(service: Lamp(name: "lantern"))
            for (button, found) in [("type", "lamp"), ("protocol", "lamp"), ("condition", "lantern")] {
                await window.press(button)
                #expect(window.texts == [found])
            }
            await window.press("missing")
            #expect(window.texts == ["lantern"])
            let alert = try #require(window.drawing.alert)
            #expect(alert.title == "“Home” reports an error" && alert.message.contains("Nobody"))
        }
    }

    @Test func `A screen of a plugin resolves contracts, and no services`() async throws {
        try await TestHost.run("LobbyScreens", plugins: [LobbyPlugin.self]) { host in
            let screens = try await host.manager("LobbyScreens", as: Screens.self)
            let drawing = try await screens.open(ScreenRequest(number: 7, screen: "curious", input: "null"))
            #expect(drawing.body == [Text("manager.unknown service.unknown").view])
        }
    }

    @Test func `A screen has one registration for each identifier`() async throws {
        try await AppManager.run { app, _ in
            let clash = await error { try app.register(screen: PageScreen.self, forIdentifier: "home") }
            #expect(clash?.code == .screenClash)
            #expect(clash?.message == "the program already has the screen `home`; give this one another identifier")
            try app.register(screen: PageScreen.self, forIdentifier: "leaf")
            let window = try await app.makeWindow()
            let leaf = try await app.screen(for: "leaf", data: ["number": 7], in: window)
            #expect(leaf.identifier == "leaf" && leaf.drawing.title == "Page 7")
            let malformed = await error { try app.register(screen: PageScreen.self, forIdentifier: "a leaf") }
            #expect(malformed?.message.contains("`a leaf` is not an identifier") == true)
        }
    }

    @Test func `An unknown screen is an error with the nearest name`() async throws {
        try await AppManager.withWindow { window, app, _ in
            let unknown = await error { try await app.screen(for: "pge", in: window) }
            #expect(unknown?.code == .screenUnknown)
            #expect(unknown?.message.hasSuffix("did you mean `page`?") == true)
        }
    }

    @Test func `Without a screen to begin with, a window is not opened`() async throws {
        try await AppManager.run(make: { AppManager($0) }) { app, _ in
            let missing = await error { try await app.makeWindow() }
            #expect(missing?.code == .manifestMissingKey && missing?.location == "/screens")
        }
    }

    // MARK: Segues

    @Test func `A typed segue shows a screen with its input, and one goes back`() async throws {
        let script = Script(buttons: [
            "open": { agent in
                try await agent.performSegue(to: PageScreen.self, data: PageScreen.Input(number: 7))
                return "opened"
            }
        ])
        try await AppManager.withWindow(script) { window, _, _ in
            let home = try #require(window.front)
            await window.press("open")
            let page = try #require(window.drawing.screen)
            #expect(window.path == ["Home", "Page 7"])
            #expect(page.identifier == "page" && page.destination.input == #"{"number":7}"#)
            #expect(window.drawing.modal == nil && window.drawing.tabs.isEmpty)
            await window.goBack()
            #expect(window.front === home && window.texts == ["opened"])
            await window.goBack()
            #expect(window.front === home)
        }
    }

    @Test func `Each segue assembles a new screen with an agent of its own`() async throws {
        let script = Script(buttons: ["open": opening])
        try await AppManager.withWindow(script) { window, _, _ in
            await window.press("open")
            let first = try #require(window.front)
            await window.goBack()
            await window.press("open")
            let second = try #require(window.front)
            #expect(first.number != second.number && first !== second)
            let agents = script.agents.all
            await eventually { agents[0].isInert }
            #expect(agents.count == 2 && !agents[1].isInert)
        }
    }

    @Test func `An input of another form is an error at its place, for the agent and the person`() async throws {
        let thrown = Recording<BackplaneError>()
        let script = Script(buttons: [
            "wrong": { agent in
                do throws(BackplaneError) {
                    try await agent.performSegue(to: "page", data: ["number": "seven"])
                    return "shown"
                } catch {
                    thrown.add(error)
                    return "caught"
                }
            }
        ])
        try await AppManager.withWindow(script) { window, _, _ in
            await window.press("wrong")
            #expect(window.texts == ["caught"])
            #expect(thrown.all.map(\.code) == [.screenInvalidInput])
            #expect(thrown.all.first?.location == "/number")
            let alert = try #require(window.drawing.alert)
            #expect(alert.title == "`page` cannot be shown")
            #expect(alert.message.hasPrefix("/number: "))
            #expect(alert.message.hasSuffix("expected an integer, found a string"))
            window.dismissAlert()
            #expect(window.drawing.alert == nil)
        }
    }

    @Test func `Of an error that a screen passes on, the person is told once`() async throws {
        let script = Script(buttons: [
            "unknown": { agent in
                try await agent.performSegue(to: "nowhere")
                return "shown"
            },
            "failing": { agent in
                try await agent.performSegue(to: "failing")
                return "shown"
            },
        ])
        try await AppManager.withWindow(script) { window, _, _ in
            await window.press("unknown")
            #expect(window.drawing.alert?.title == "`nowhere` cannot be shown")
            window.dismissAlert()
            #expect(window.drawing.alert == nil)
            await window.press("failing")
            #expect(
                window.drawing.alert == WindowDrawing.Alert(title: "`failing` cannot be shown", message: "it is broken")
            )
            window.dismissAlert()
            #expect(window.drawing.alert == nil && window.path == ["Home"])
        }
    }

    @Test func `Of an error that equals that of an earlier segue, the person is told`() async throws {
        let errors = Recording<BackplaneError>()
        let script = Script(buttons: [
            "passing": { agent in
                do throws(BackplaneError) {
                    try await agent.performSegue(to: "failing")
                    return "shown"
                } catch {
                    errors.add(error)
                    throw error
                }
            },
            "catching": { agent in
                try? await agent.performSegue(to: "failing")
                return "caught"
            },
            "open": opening,
            "later": { _ in throw errors.all[0] },
        ])
        try await AppManager.withWindow(script) { window, _, _ in
            await window.press("passing")
            #expect(window.drawing.alert?.title == "`failing` cannot be shown")
            window.dismissAlert()
            #expect(window.drawing.alert == nil)
            await window.press("later")
            #expect(window.drawing.alert?.title == "“Home” reports an error")
            window.dismissAlert()
            await window.press("catching")
            #expect(window.drawing.alert?.title == "`failing` cannot be shown")
            window.dismissAlert()
            await window.press("open")
            await window.goBack()
            await window.press("later")
            #expect(window.drawing.alert?.title == "“Home” reports an error")
        }
    }

    @Test func `A segue by a link is one of its screen, unless that has gone`() async throws {
        try await AppManager.withWindow { window, _, _ in
            let page = try Destination(PageScreen.self, PageScreen.Input(number: 3))
            let home = try #require(window.front)
            await window.follow(page, from: home.number)
            #expect(window.path == ["Home", "Page 3"])
            await window.follow(page, from: 99)
            #expect(window.path == ["Home", "Page 3"])
            await window.follow(try Destination("nowhere"), from: home.number)
            #expect(window.drawing.alert?.title == "`nowhere` cannot be shown")
        }
    }

    @Test func `A screen that shows itself again and again is refused at some point`() async throws {
        let script = Script(assembly: { try await $0.performSegue(to: "home") })
        try await AppManager.withWindow(script) { window, _, _ in
            let drawing = try await window.first { $0.alert != nil }
            #expect(drawing.alert?.title == "`home` cannot be shown")
            #expect(drawing.alert?.message.hasPrefix("the window has 100 open screens") == true)
            #expect(window.flowRequest().stack.count == 100)
            let refusal = await error { try await window.open(try Destination("page", ["number": 1])) }
            #expect(refusal?.code == .screenNotAssembled)
            window.dismissAlert()
            await window.goBack()
            try await window.open(try Destination("page", ["number": 1]))
            #expect(window.path == ["Home", "Page 1"])
        }
    }

    // MARK: The alert screen

    @Test(arguments: [false, true])
    func `The alert screen is shown for a screen that cannot be assembled`(isOfPlugin: Bool) async throws {
        let manifest = Manifest(managers: isOfPlugin ? ["AlertScreens": ManagerDefinition()] : [:])
        try await AppManager.withWindow(failing, manifest, plugins: [AlertPlugin.self]) { window, app, _ in
            if !isOfPlugin { try app.register(screen: AlertScreen.self) }
            await window.press("failing")
            #expect(window.drawing.alert == nil)
            #expect(window.drawing.modal?.identifier == "appManager.alert")
            #expect(window.texts == ["failing is not available"])
            await window.goBack()
            #expect(window.drawing.modal == nil && window.path == ["Home"])
        }
    }

    @Test func `An alert screen that cannot be assembled itself is not shown either`() async throws {
        try await AppManager.withWindow(failing) { window, app, _ in
            // It expects a number.
            try app.register(screen: PageScreen.self, forIdentifier: "appManager.alert")
            await window.press("failing")
            #expect(
                window.drawing.alert == WindowDrawing.Alert(title: "`failing` cannot be shown", message: "it is broken")
            )
            #expect(window.drawing.modal == nil)
        }
    }

    @Test func `An alert screen whose own segue fails has no further alert screen`() async throws {
        try await AppManager.withWindow(failing) { window, app, _ in
            try app.register(screen: RestlessAlertScreen.self)
            await window.press("failing")
            let drawing = try await window.first { $0.alert != nil }
            #expect(drawing.alert?.title == "`nowhere` cannot be shown")
            #expect(window.drawing.modal?.identifier == "appManager.alert")
        }
    }

    // MARK: Time and order

    @Test func `A screen that is not assembled in time is an error, and does nothing later`() async throws {
        let gate = TestGate()
        let script = Script(
            buttons: ["open": opening], pageAssembly: { _ in await gate.passThoughCancelled() })
        try await AppManager.withWindow(script) { window, _, host in
            async let pressed: Void = window.press("open")
            try await gate.arrivals()
            try await host.clock.expire(.seconds(10))
            await pressed
            #expect(window.drawing.alert?.title == "`page` cannot be shown")
            #expect(window.drawing.alert?.message.hasPrefix("`page` was not assembled within 10") == true)
            gate.open()
            let agent = try await script.agents.first(1)[0]
            await eventually { agent.isInert }
            #expect(window.path == ["Home"])
        }
    }

    @Test func `Segues take place one after another, while their screens handle events`() async throws {
        let gate = TestGate()
        let script = Script(
            buttons: [
                "first": { agent in
                    try await agent.performSegue(to: "page", data: ["number": 1])
                    return "first"
                },
                "second": { agent in
                    try await agent.performSegue(to: "page", data: ["number": 2])
                    return "second"
                },
                "note": { _ in "noted" },
            ], pageAssembly: { number in if number == 1 { try await gate.pass() } })
        try await AppManager.withWindow(script) { window, _, _ in
            let home = try #require(window.front)
            async let first: Void = window.press("first")
            try await gate.arrivals()
            async let second: Void = window.press("second")
            await window.press("note")
            #expect(window.texts == ["noted"] && window.path == ["Home"])
            #expect(script.pages.all == [1])
            gate.open()
            _ = await (first, second)
            #expect(script.pages.all == [1, 2])
            #expect(window.path == ["Page 1", "Page 2"])
            #expect(home.drawing.body.first?.text == "second")
        }
    }

    @Test func `A segue of a screen that has gone meanwhile has no effect`() async throws {
        let gate = TestGate(), ends = Recording<String>()
        let script = Script(
            buttons: [
                "inner": { agent in
                    try await agent.performSegue(to: "inner")
                    return "inner"
                },
                "page": { agent in
                    ends.add(await code { try await agent.performSegue(to: "page", data: ["number": 1]) })
                    return "page"
                },
            ], pageAssembly: { _ in await gate.passThoughCancelled() })
        try await AppManager.withWindow(script) { window, app, _ in
            try app.register(screen: ScriptedScreen.self, forIdentifier: "inner")
            await window.press("inner")
            async let pressed: Void = window.press("page")
            try await gate.arrivals()
            window.pop()
            await pressed
            #expect(ends.all == ["screen.closed"])
            gate.open()
            let agent = try await script.agents.first(1)[0]
            await eventually { agent.isInert }
            #expect(window.path == ["Home"] && window.drawing.alert == nil)
        }
    }

    // MARK: Ends

    @Test func `A screen dismisses itself, and then its agent can do nothing`() async throws {
        let script = Script(buttons: ["open": opening])
        try await AppManager.withWindow(script) { window, _, _ in
            await window.press("open")
            await window.press("leave")
            #expect(window.path == ["Home"] && window.drawing.alert == nil)
            let agent = try await script.agents.first(1)[0]
            await eventually { agent.isInert }
            #expect(await code { try await agent.performSegue(to: "page", data: ["number": 2]) } == "screen.closed")
            #expect(await code { try await agent.performSegue(to: "nowhere") } == "screen.closed")
            #expect(await code { try await agent.dismiss() } == "screen.closed")
            #expect(await code { _ = try await agent.resolve(Flow.self) } == "screen.closed")
            agent.redraw()
            #expect(window.path == ["Home"])
        }
    }

    @Test func `All screens of a window are closed with it`() async throws {
        let script = Script(buttons: ["open": opening])
        try await AppManager.withWindow(script) { window, app, _ in
            await window.press("open")
            let spare = try await app.screen(for: "page", data: ["number": 9], in: window)
            let drawing = Task { await window.drawing(after: window.drawing.revision) }
            await window.close()
            #expect(script.agents.all.count == 2 && script.agents.all.allSatisfy { $0.isInert })
            #expect(await drawing.value == nil)
            #expect(await window.drawing(after: 0) == nil)
            #expect(window.front == nil && spare.isClosed)
            #expect(
                await code { _ = try await app.screen(for: "page", data: ["number": 1], in: window) } == "screen.closed"
            )
            #expect(await code { try await window.open(try Destination("home")) } == "screen.closed")
            await window.goBack()
            await window.close()
        }
    }

    @Test func `A host stops while a screen of a plugin waits for a segue`() async throws {
        let gate = TestGate()
        let script = Script(pageAssembly: { _ in await gate.passThoughCancelled() })
        let manifest = Manifest(managers: ["LobbyScreens": ManagerDefinition()])
        try await AppManager.withWindow(script, manifest, plugins: [LobbyPlugin.self]) { window, _, host in
            try await window.open(try Destination("lobby"))
            async let pressed: Void = window.press("open")
            try await gate.arrivals()
            // No limit passes, since the clock stands still.
            await host.host.stop()
            await pressed
            #expect(host.log.records.filter { $0.level == .error }.map(\.message) == [])
            gate.open()
        }
    }

    @Test func `Windows are closed when the host has stopped`() async throws {
        let script = Script(buttons: ["open": opening])
        try await AppManager.withWindow(script) { window, _, host in
            await window.press("open")
            await host.host.stop()
            while let drawing = await window.drawing(after: window.drawing.revision) { _ = drawing }
            let agent = try await script.agents.first(1)[0]
            await eventually { agent.isInert }
        }
    }

    @Test func `The agent of a window and a host that were released can do nothing`() async throws {
        let agents = Recording<Agent>()
        do {
            let test = TestHost(ManifestDocument(Manifest(managers: [:])), linked: [], files: try TestFolder()) { _ in }
            let app = ProgramApp(test.host)
            app.register(service: Script(assembly: { agents.add($0) }))
            try app.register(screen: ScriptedScreen.self)
            let window = try await app.makeWindow()
            #expect(window.path == ["Home"])
        }
        let agent = try await agents.first(1)[0]
        await eventually { agent.isInert }
        #expect(await code { try await agent.performSegue(to: "home") } == "screen.closed")
        #expect(await code { try await agent.dismiss() } == "screen.closed")
        #expect(await code { _ = try await agent.resolve(Flow.self) } == "screen.closed")
        agent.redraw()
        _ = agent.call
    }

    private let failing = Script(buttons: [
        "failing": { agent in
            try await agent.performSegue(to: "failing")
            return "shown"
        }
    ])

    /// Shows page 1.
    private let opening: Script.Action = { agent in
        try await agent.performSegue(to: "page", data: ["number": 1])
        return "opened"
    }
}

private protocol Named: Sendable {
    var name: String { get }
}

private struct Lamp: Named {
    var name: String
}

private struct Nobody: Named {
    var name: String
}

struct LobbyPlugin: Plugin {
    static let id = "org.example.lobby"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(LobbyScreens.self) }
}

final class LobbyScreens: ScreenManager {
    let screens: OpenScreens

    init(_ context: Context) { screens = OpenScreens(context) }

    static func screens(_ table: inout ScreenTable) {
        table.add(Lobby.self)
        table.add(CuriousScreen.self)
    }
}

/// A screen of a plugin that leads to a page of the program.
final class Lobby: Screen {
    static let identifier = "lobby"
    private let agent: Agent

    init(_ agent: Agent) { self.agent = agent }

    static func assemble(with input: Nothing, agent: Agent) async throws -> Lobby { Lobby(agent) }

    var body: [View] { Button("Open", id: "open") }

    func handle(_ event: ViewEvent) async throws { try await agent.performSegue(to: "page", data: ["number": 1]) }
}

private struct AlertPlugin: Plugin {
    static let id = "org.example.alert"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(AlertScreens.self) }
}

private final class AlertScreens: ScreenManager {
    let screens: OpenScreens

    init(_ context: Context) { screens = OpenScreens(context) }

    static func screens(_ table: inout ScreenTable) { table.add(AlertScreen.self) }
}

/// The alert screen of an application.
private final class AlertScreen: Screen {
    struct Input: Codable, Sendable {
        var identifier: String
    }
    static let identifier = AppManager.alertScreen
    private let input: Input

    init(_ input: Input) { self.input = input }

    static func assemble(with input: Input, agent: Agent) async throws -> AlertScreen { AlertScreen(input) }

    var body: [View] { Text("\(input.identifier) is not available") }
}

/// An alert screen that requests a screen that does not exist.
private final class RestlessAlertScreen: Screen {
    static let identifier = AppManager.alertScreen
    typealias Input = [String: String]

    static func assemble(with input: Input, agent: Agent) async throws -> RestlessAlertScreen {
        try await agent.performSegue(to: "nowhere")
        return RestlessAlertScreen()
    }

    var body: [View] { Text("restless") }
}

/// A screen that shows with which errors nothing was resolved.
final class CuriousScreen: Screen {
    static let identifier = "curious"
    private let text: String

    init(_ text: String) { self.text = text }

    static func assemble(with input: Nothing, agent: Agent) async throws -> CuriousScreen {
        var codes: [String] = []
        do throws(BackplaneError) { _ = try await agent.resolve(Flow.self) } catch { codes.append(error.code.rawValue) }
        do throws(BackplaneError) { _ = try agent.resolve(service: String.self) } catch {
            codes.append(error.code.rawValue)
        }
        return CuriousScreen(codes.joined(separator: " "))
    }

    var body: [View] { Text(text) }
}

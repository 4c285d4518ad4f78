import Backplane
import BackplaneHost
import BackplaneScreens
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneApp

/// What a person does while the target of a segue is assembled.
@Suite(.timeLimit(.minutes(5)))
struct `Segues that are pending` {
    private let gate = TestGate()
    private let ends = Recording<String>()

    /// A script whose button `open` shows page 1, which is not assembled before the gate is open, cancelled or not.
    private func script() -> Script {
        Script(
            buttons: [
                "open": { [ends] agent in
                    do throws(BackplaneError) {
                        try await agent.performSegue(to: "page", data: ["number": 1])
                        return "opened"
                    } catch {
                        ends.add(error.code.rawValue)
                        throw error
                    }
                },
                "inner": { agent in
                    try await agent.performSegue(to: "inner")
                    return "inner"
                },
            ], pageAssembly: { [gate] number in if number == 1 { await gate.passThoughCancelled() } })
    }

    /// Checks that page 1 is closed once it is assembled, and has not been shown.
    private func expectNoPage(_ script: Script) async throws {
        gate.open()
        for agent in script.agents.all { await eventually { agent.isInert } }
    }

    @Test func `Going back only cancels it, without an alert`() async throws {
        let script = script()
        try await AppManager.withWindow(script) { window, app, _ in
            try app.register(screen: ScriptedScreen.self, forIdentifier: "inner")
            await window.press("inner")
            async let pressed: Void = window.press("open")
            try await gate.arrivals()
            await window.goBack()
            await pressed
            #expect(ends.all == ["call.cancelled"])
            #expect(window.front?.identifier == "inner" && window.drawing.alert == nil)
            try await expectNoPage(script)
            #expect(window.front?.identifier == "inner" && window.drawing.alert == nil)
            await window.goBack()
            #expect(window.front?.identifier == "home")
        }
    }

    @Test func `Going back cancels a link as well`() async throws {
        let script = script()
        try await AppManager.withWindow(script) { window, _, _ in
            let home = try #require(window.front), page = try Destination("page", ["number": 1])
            async let followed: Void = window.follow(page, from: home.number)
            try await gate.arrivals()
            await window.goBack()
            await followed
            try await expectNoPage(script)
            #expect(window.front === home && window.drawing.alert == nil)
        }
    }

    @Test func `An address that is pending is cancelled in the same way`() async throws {
        let script = script()
        try await AppManager.withWindow(script) { window, _, _ in
            let opening = Task { await code { try await window.open(try Destination("page", ["number": 1])) } }
            try await gate.arrivals()
            await window.goBack()
            #expect(await opening.value == "call.cancelled")
            try await expectNoPage(script)
            #expect(window.path == ["Home"] && window.drawing.alert == nil)
        }
    }

    @Test func `Selecting a tab cancels it, and then selects`() async throws {
        let script = script()
        try await AppManager.withWindow(script) { window, app, _ in
            let tabs = [
                try await app.screen(for: "home", in: window),
                try await app.screen(for: "page", data: ["number": 8], in: window),
            ]
            window.setTabs(tabs)
            async let pressed: Void = window.press("open")
            try await gate.arrivals()
            await window.select(tab: 1)
            #expect(window.path == ["Page 8"])
            await pressed
            #expect(ends.all == ["call.cancelled"])
            gate.open()
            let agent = try await script.agents.first(2)[1]
            await eventually { agent.isInert }
            await window.select(tab: 0)
            #expect(window.path == ["Home"] && window.drawing.alert == nil)
        }
    }

    @Test func `Opening an address cancels it, and then shows the screen`() async throws {
        let script = script()
        try await AppManager.withWindow(script) { window, _, _ in
            async let pressed: Void = window.press("open")
            try await gate.arrivals()
            try await window.open(try Destination("page", ["number": 2]))
            #expect(window.path == ["Home", "Page 2"])
            await pressed
            #expect(ends.all == ["call.cancelled"])
            gate.open()
            let agent = try await script.agents.first(2)[0]
            await eventually { agent.isInert }
            #expect(window.path == ["Home", "Page 2"] && window.drawing.alert == nil)
        }
    }

    @Test func `A segue of a plugin's screen is cancelled without an alert, whatever the lane`() async throws {
        for lanes in [LaneRule.fastest, .encoded] {
            let gate = TestGate()
            let script = Script(pageAssembly: { _ in await gate.passThoughCancelled() })
            let manifest = Manifest(managers: ["PierScreens": ManagerDefinition()])
            try await TestHost.run(manifest, plugins: [PierPlugin.self], lanes: lanes) { host in
                let app = ProgramApp(host.host)
                app.register(service: script)
                try app.register(screen: ScriptedScreen.self)
                try app.register(screen: PageScreen.self)
                let window = try await app.makeWindow()
                try await window.open(try Destination("pier"))
                async let pressed: Void = window.press("open")
                try await gate.arrivals()
                await window.goBack()
                await pressed
                #expect(window.front?.identifier == "pier" && window.drawing.alert == nil)
                gate.open()
                let agent = try await script.agents.first(1)[0]
                await eventually { agent.isInert }
                await window.goBack()
                #expect(window.path == ["Home"] && window.drawing.alert == nil)
                await window.close()
            }
        }
    }

    // MARK: Turns

    @Test func `Those that wait are cancelled as well, and other transitions are not`() async throws {
        let turns = WindowTurns(), log = Recording<String>()
        turns.add(isSegue: true) { [gate] in
            await gate.passThoughCancelled()
            log.add("first \(Task.isCancelled)")
        }
        turns.add(isSegue: true) { log.add("second \(Task.isCancelled)") }
        turns.add { log.add("third \(Task.isCancelled)") }
        try await gate.arrivals()
        #expect(turns.cancelSegues().count == 2)
        turns.add(isSegue: true) { log.add("fourth \(Task.isCancelled)") }
        gate.open()
        try await turns.take { log.add("last") }
        #expect(log.all == ["first true", "second true", "third false", "fourth false", "last"])
        #expect(turns.cancelSegues().isEmpty, "they have ended")
    }

    @Test func `A transition within another one takes place at once, and cancels nothing`() async throws {
        let turns = WindowTurns(), log = Recording<String>()
        try await turns.take(isSegue: true) { () async throws(BackplaneError) in
            log.add("begins")
            #expect(turns.cancelSegues().isEmpty)
            try await turns.take { log.add("within") }
            turns.afterwards { log.add("afterwards") }
            log.add("ends \(Task.isCancelled)")
        }
        #expect(log.all == ["begins", "within", "ends false", "afterwards"])
        turns.end()
        #expect(await error { try await turns.take { log.add("late") } }?.code == .screenClosed)
        #expect(log.all.count == 4)
    }
}

private struct PierPlugin: Plugin {
    static let id = "org.example.pier"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(PierScreens.self) }
}

private final class PierScreens: ScreenManager {
    let screens: OpenScreens

    init(_ context: Context) { screens = OpenScreens(context) }

    static func screens(_ table: inout ScreenTable) { table.add(Pier.self) }
}

/// A screen of a plugin that leads to a page of the program, and passes the error on if it is not shown.
private final class Pier: Screen {
    static let identifier = "pier"
    private let agent: Agent

    init(_ agent: Agent) { self.agent = agent }

    static func assemble(with input: Nothing, agent: Agent) async throws -> Pier { Pier(agent) }

    var body: [View] { Button("Open", id: "open") }

    func handle(_ event: ViewEvent) async throws { try await agent.performSegue(to: "page", data: ["number": 1]) }
}

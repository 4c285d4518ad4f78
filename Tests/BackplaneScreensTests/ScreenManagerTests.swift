import Backplane
import BackplaneHost
import BackplaneScreens
import BackplaneTestKit
import Testing

/// A manager with screens in a host, called as the host's windows call it.
@Suite(.timeLimit(.minutes(5)))
struct `Managers with screens` {
    private static let lanes: [LaneRule] = [.fastest, .encoded]

    private func run(_ lanes: LaneRule, _ body: (Remote<Screens>) async throws -> Void) async throws {
        try await TestHost.run("Desks", plugins: [DeskPlugin.self], lanes: lanes) { host in
            try await body(try await host.manager("Desks", as: Screens.self))
        }
    }

    @Test(arguments: lanes)
    func `a screen is opened, changes and is closed`(lanes: LaneRule) async throws {
        try await run(lanes) { screens in
            let drawing = try await screens.open(ScreenRequest(number: 7, screen: "desk", input: "null"))
            #expect(drawing.title == "desk")
            #expect(drawing.body == [Text("0").view, Button("Add", id: "add").view])
            var changes = screens.changes(ScreenProgress(screen: 7, revision: drawing.revision)).makeAsyncIterator()
            let event = try #require(drawing.body.find(ViewKey(rawValue: "add"))?.event(.press))
            let revision = try await screens.handle(ScreenEvent(screen: 7, event: event))
            let change = try await changes.next()
            #expect(change?.drawing?.revision == revision)
            #expect(change?.drawing?.body.first == Text("1").view)
            _ = try await screens.close(7)
            #expect(try await changes.next() == nil)
            let closed = await #expect(throws: BackplaneError.self) {
                try await screens.handle(ScreenEvent(screen: 7, event: event))
            }
            #expect(closed?.code == .screenClosed)
        }
    }

    @Test(arguments: lanes)
    func `a screen waits for the end of its segue`(lanes: LaneRule) async throws {
        try await run(lanes) { screens in
            let drawing = try await screens.open(ScreenRequest(number: 7, screen: "desk", input: "null"))
            var changes = screens.changes(ScreenProgress(screen: 7, revision: drawing.revision)).makeAsyncIterator()
            async let handled = screens.handle(ScreenEvent(screen: 7, event: ViewEvent(.press, "go")))
            let segue = try #require(try await changes.next()?.segue)
            #expect(segue.destination.screen == "lamp")
            let error = BackplaneError(.screenUnknown, "there is no lamp")
            _ = try screens.end(SegueEnd(screen: 7, segue: segue.number, error: error))
            // The screen shows the error.
            let revision = try await handled
            let change = try await changes.next()
            #expect(change?.drawing?.revision == revision)
            #expect(change?.drawing?.body.first == Text("there is no lamp").view)
            _ = try await screens.close(7)
        }
    }

    @Test func `a screen of a plugin resolves contracts, and no services`() async throws {
        try await run(.fastest) { screens in
            let drawing = try await screens.open(ScreenRequest(number: 7, screen: "curious", input: "null"))
            #expect(drawing.body == [Text("manager.unknown service.unknown").view])
        }
    }
}

private struct DeskPlugin: Plugin {
    static let id = "org.example.desks"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(Desks.self) }
}

private final class Desks: ScreenManager {
    let screens: OpenScreens

    init(_ context: Context) { screens = OpenScreens(context) }

    static func screens(_ table: inout ScreenTable) {
        table.add(Desk.self)
        table.add(CuriousScreen.self)
    }
}

private actor Desk: Screen {
    static let identifier = "desk"
    private let agent: Agent
    private var text = "0"

    init(_ agent: Agent) { self.agent = agent }

    static func assemble(with input: Nothing, agent: Agent) async throws -> Desk { Desk(agent) }

    var body: [View] {
        Text(text)
        Button("Add", id: "add")
    }

    func handle(_ event: ViewEvent) async throws {
        if event.id == "add" { text = "1" }
        guard event.id == "go" else { return }
        do throws(BackplaneError) { try await agent.performSegue(to: "lamp") } catch { text = error.message }
    }
}

/// A screen that shows with which errors nothing was resolved.
private final class CuriousScreen: Screen {
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

import Backplane
import BackplaneScreens
import BackplaneTestKit
import Testing

@testable import BackplaneApp

@Suite(.timeLimit(.minutes(5)))
struct `What a person does in a terminal` {
    private func change(_ id: String, _ value: String, rows: [String] = []) -> ViewEvent {
        ViewEvent(.change, id, rows: rows, value: value)
    }

    private func all(_ queue: inout EventQueue) -> [ViewEvent] {
        var all: [ViewEvent] = []
        while let event = queue.next() { all.append(event) }
        return all
    }

    @Test func `events wait in order, and a change replaces the one before of the same control`() {
        var queue = EventQueue()
        let press = ViewEvent(.press, "add")
        let submission = ViewEvent(.submit, "a", rows: ["r"], value: "x")
        for event in [
            change("a", "m"), change("a", "mo"), press, press, change("a", "mob"), change("a", "x", rows: ["r"]),
            submission,
        ] { queue.add(event) }
        #expect(
            all(&queue) == [
                change("a", "mo"), press, press, change("a", "mob"), change("a", "x", rows: ["r"]), submission,
            ])
        #expect(queue.next() == nil)
    }

    @Test func `a screen that handles nothing does not make the queue grow`() {
        var queue = EventQueue()
        for number in 0..<1000 { queue.add(ViewEvent(.press, "\(number)")) }
        #expect(all(&queue).map(\.id) == (0..<EventQueue.most).map(String.init))
    }

    @Test func `a slow screen holds up its own events, and nothing else`() async throws {
        let gate = TestGate()
        let script = Script(buttons: [
            "add": { _ in "added" },
            "wait": { _ in
                try await gate.pass()
                return "waited"
            },
        ])
        try await AppManager.withWindow(script) { window, app, _ in
            let screens = [
                try await app.screen(for: "home", in: window), try await app.screen(for: "home", in: window),
            ]
            window.setTabs(screens)
            let actions = TerminalActions(window)
            for id in ["wait", "add"] { actions.perform(.send(ViewEvent(.press, id), screen: screens[0].number)) }
            try await gate.arrivals()
            actions.perform(.send(ViewEvent(.press, "add"), screen: screens[1].number))
            actions.perform(.select(tab: 1))
            try await window.first { $0.selected == 1 && $0.screen?.body.first?.text == "added" }
            #expect(screens[0].drawing.body.first?.text == "nothing")
            gate.open()
            actions.perform(.select(tab: 0))
            try await window.first { $0.selected == 0 && $0.screen?.body.first?.text == "added" }
        }
    }

    @Test func `a link is not followed while another one is`() async throws {
        let gate = TestGate()
        let script = Script(pageAssembly: { _ in try await gate.pass() })
        try await AppManager.withWindow(script) { window, _, _ in
            let home = try #require(window.front?.number), actions = TerminalActions(window)
            func page(_ number: Int) throws -> WindowAction {
                .follow(try Destination(PageScreen.self, PageScreen.Input(number: number)), screen: home)
            }
            actions.perform(try page(1))
            try await gate.arrivals()
            actions.perform(try page(2))
            gate.open()
            try await window.first { $0.front?.title == "Page 1" }
            await window.perform(try page(3))
            #expect(script.pages.all == [1, 3])
        }
    }
}

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

    private func all(_ queue: inout EventQueue) -> [EventQueue.Entry] {
        var all: [EventQueue.Entry] = []
        while let entry = queue.next() { all.append(entry) }
        return all
    }

    @Test func `events wait in order, and a change replaces the one before of the same control`() {
        var queue = EventQueue()
        let press = ViewEvent(.press, "add")
        for event in [change("a", "m"), change("a", "mo"), press, press, change("a", "mob")] { queue.add(event, to: 1) }
        queue.add(change("a", "moby"), to: 2)
        queue.add(change("a", "x", rows: ["r"]), to: 2)
        queue.add(ViewEvent(.submit, "a", rows: ["r"], value: "x"), to: 2)
        #expect(
            all(&queue).map(\.event) == [
                change("a", "mo"), press, press, change("a", "mob"), change("a", "moby"), change("a", "x", rows: ["r"]),
                ViewEvent(.submit, "a", rows: ["r"], value: "x"),
            ])
        #expect(queue.next() == nil)
    }

    @Test func `a screen that handles nothing does not make the queue grow`() {
        var queue = EventQueue()
        for number in 0..<1000 { queue.add(ViewEvent(.press, "\(number)"), to: 1) }
        #expect(all(&queue).map(\.event.id) == (0..<EventQueue.most).map(String.init))
    }

    @Test func `a slow screen holds up its events, and nothing else`() async throws {
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
            actions.perform(.send(ViewEvent(.press, "wait"), screen: screens[0].number))
            actions.perform(.send(ViewEvent(.press, "add"), screen: screens[1].number))
            try await gate.arrivals()
            actions.perform(.select(tab: 1))
            try await window.first { $0.selected == 1 }
            #expect(actions.isBusy && window.texts == ["nothing"])
            gate.open()
            try await window.first { $0.screen?.body.first?.text == "added" }
            #expect(screens[0].drawing.body.first?.text == "waited")
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

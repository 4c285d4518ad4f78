import Backplane
import BackplaneScreens
import BackplaneTestKit
import Testing

@testable import BackplaneApp

@Suite(.timeLimit(.minutes(5)))
struct `Lines of an input` {
    private func all(_ lines: inout TerminalLines) -> [TerminalLines.Line] {
        var all: [TerminalLines.Line] = []
        while let line = lines.next() {
            all.append(line)
            if line == .end { break }
        }
        return all
    }

    @Test(arguments: [1, 2, 3, 100])
    func `pieces of any size have the same lines`(size: Int) {
        let bytes = Array("1\n\n2 möby\r\n3".utf8)
        var lines = TerminalLines(), read: [TerminalLines.Line] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            lines.append(bytes[start..<min(start + size, bytes.count)])
            read += all(&lines)
        }
        #expect(read == [.text("1"), .text(""), .text("2 möby")])
        lines.end()
        #expect(all(&lines) == [.text("3"), .end])
        #expect(lines.next() == .end)
    }

    @Test func `a line is there once, and the others wait`() {
        var lines = TerminalLines()
        lines.append("1\n2\n".utf8)
        #expect(lines.next() == .text("1"))
        #expect(lines.next() == .text("2"))
        #expect(lines.next() == nil)
    }

    @Test(arguments: [1 << 8, 1 << 12, 1 << 21])
    func `a line that is too long is dropped, and the next one is read`(size: Int) {
        let count = TerminalLines.longest + (3 << 12)
        var lines = TerminalLines(), read: [TerminalLines.Line] = []
        for start in stride(from: 0, to: count, by: size) {
            lines.append([UInt8](repeating: UInt8(ascii: "1"), count: min(size, count - start)))
            read += all(&lines)
        }
        lines.append("\n2\n".utf8)
        read += all(&lines)
        #expect(read == [.tooLong, .text("2")])
    }

    @Test func `a line of 1 MB is read`() {
        var lines = TerminalLines()
        lines.append([UInt8](repeating: UInt8(ascii: "1"), count: TerminalLines.longest))
        #expect(lines.next() == nil)
        lines.append("\n".utf8)
        #expect(lines.next() == .text(String(repeating: "1", count: TerminalLines.longest)))
    }

    @Test func `the end of a line that is too long is the end`() {
        var lines = TerminalLines()
        lines.append([UInt8](repeating: UInt8(ascii: "1"), count: TerminalLines.longest + 1))
        lines.end()
        #expect(all(&lines) == [.tooLong, .end])
    }
}

@Suite(.timeLimit(.minutes(5)))
struct `A window through a pipe` {
    @ViewBuilder private var form: [View] {
        Field("Search", id: "search")
        Choice("Sort", id: "sort", value: "t", options: [View.Option("t", "Title"), View.Option("y", "Year")])
        Toggle("Free", id: "free", isOn: false)
        List(["a"], id: \.self) { title in
            Link(title, to: .to("book"))
            Button("Borrow", id: "borrow")
        }
    }

    private func opened(_ drawing: WindowDrawing) -> TerminalDialogue {
        var dialogue = TerminalDialogue(drawing)
        _ = dialogue.show(drawing)
        return dialogue
    }

    @Test func `a line names what to press, to follow or to enter`() {
        var dialogue = opened(.of(tabs: ["Books", "Loans"], back: "Home") { form })
        #expect(dialogue.read("1") == .act([.select(tab: 1)]))
        #expect(dialogue.read("2") == .act([.goBack]))
        var values = ["search": "moby dick", "sort": "t", "free": "false"]
        #expect(
            dialogue.read("3 moby dick")
                == .act([
                    .send(ViewEvent(.change, "search", value: "moby dick", values: values), screen: 1),
                    .send(ViewEvent(.submit, "search", value: "moby dick", values: values), screen: 1),
                ]))
        values["sort"] = "y"
        #expect(
            dialogue.read("4 Year") == .act([.send(ViewEvent(.change, "sort", value: "y", values: values), screen: 1)]))
        values = values.merging(["sort": "t", "free": "true"]) { $1 }
        #expect(
            dialogue.read("5") == .act([.send(ViewEvent(.change, "free", value: "true", values: values), screen: 1)]))
        values["free"] = "false"
        #expect(dialogue.read("6") == .act([.follow(.to("book"), screen: 1)]))
        #expect(
            dialogue.read("7") == .act([.send(ViewEvent(.press, "borrow", rows: ["a"], values: values), screen: 1)]))
        #expect(dialogue.read("") == .show)
        #expect(dialogue.read("q") == .quit)
    }

    @Test func `a line that means nothing is refused with what could be written`() {
        var dialogue = opened(.of { form })
        for number in ["9", "0", "-1", "\(Int.min)", "\(Int.max)", "9\(Int.max)"] {
            #expect(
                dialogue.read(number) == .refuse("`\(number)` is not here; write a number from 1 to 5, or q to quit"))
        }
        #expect(
            dialogue.read("borrow it") == .refuse("`borrow` is not here; write a number from 1 to 5, or q to quit"))
        #expect(dialogue.read("1") == .refuse("write `1 TEXT` to enter a text"))
        #expect(dialogue.read("2 Price") == .refuse("write one of `2 Title`, `2 Year`"))
        var empty = opened(.of {})
        for number in ["1", "0", "\(Int.min)"] {
            #expect(empty.read(number) == .refuse("`\(number)` is not here; there is nothing to do, or q to quit"))
        }
    }

    @Test func `an empty text can be entered`() {
        var dialogue = opened(.of { Field("Search", id: "search", value: "moby") })
        guard case .act(let actions) = dialogue.read("1 ") else {
            Issue.record("nothing was entered")
            return
        }
        #expect(actions.first == .send(ViewEvent(.change, "search", value: "", values: ["search": ""]), screen: 1))
    }

    @Test func `an alert is removed`() {
        var dialogue = opened(.of(alert: WindowDrawing.Alert(title: "No", message: "a reason")) { form })
        #expect(dialogue.read("1") == .act([.dismissAlert]))
    }
}

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

import BackplaneScreens
import Testing

@testable import BackplaneApp

@Suite(.timeLimit(.minutes(5)))
struct `A window in a terminal` {
    private func terminal(_ drawing: WindowDrawing, columns: Int = 80, rows: Int = 24) -> TerminalScreen {
        TerminalScreen(drawing, size: TerminalScreen.Size(columns: columns, rows: rows))
    }

    private func text(_ screen: TerminalScreen) -> String { screen.lines.map(\.text).joined(separator: "\n") }

    private func view(_ key: String) -> WindowTarget.ID { .view(screen: 1, ViewKey(rawValue: key)) }

    private func actions(_ outcome: TerminalScreen.Outcome) -> [WindowAction] {
        if case .act(let actions) = outcome { actions } else { [] }
    }

    /// The lines that show the focused target.
    private func focusedLines(_ screen: TerminalScreen) -> [Int] {
        screen.lines.indices.filter { row in
            screen.lines[row].spans.contains { $0.target != nil && $0.target == screen.focus }
        }
    }

    @ViewBuilder private var form: [View] {
        Field("Search", id: "search").live()
        Field("Name", id: "name", value: "Ada")
        Choice("Sort", id: "sort", value: "t", options: [View.Option("t", "Title"), View.Option("y", "Year")])
        Toggle("Free", id: "free", isOn: false)
        List(["a", "b"], id: \.self) { title in
            Link(title, to: .to("book"))
            Button("Borrow", id: "borrow")
        }.id("books")
    }

    private func books(_ titles: [String]) -> WindowDrawing {
        .of { List(titles, id: \.self) { Button($0, id: "borrow") } }
    }

    // MARK: Appearance

    @Test func `tabs, the title, the body and the keys`() {
        let small = terminal(.of(tabs: ["Books", "Loans"], back: "Home") { form }, columns: 50, rows: 12)
        #expect(
            text(small) == """
                [1 Books] 2 Loans
                ‹ Home  Books

                Search: [______________________________]
                Name: [Ada___________________________]
                Sort: <Title>
                [ ] Free
                • a →  [ Borrow ]
                • b →  [ Borrow ]


                ↑↓ move  esc back  1-2 tabs  q quit
                """)
    }

    @Test func `the focused control is reversed, and a text has no other codes`() throws {
        let screen = terminal(.of { Button("A\u{1B}[31m", id: "a").style(.critical) })
        let line = try #require(screen.lines.first { $0.text.contains("A") })
        #expect(screen.styled(line, colour: true) == "\u{1B}[31;7m[ A\u{FFFD}[31m ]\u{1B}[0m")
        #expect(screen.styled(line, colour: false) == "\u{1B}[1;7m[ A\u{FFFD}[31m ]\u{1B}[0m")
    }

    @Test(arguments: 0..<5)
    func `a terminal of any size shows what fits`(seed: Int) {
        var random = RandomBody(seed: seed)
        for (columns, rows) in [(1, 1), (10, 3), (20, 5), (80, 24), (200, 60), (0, 0)] {
            let body = random.body()
            var screen = terminal(.of(tabs: ["図書館", "Loans"], back: "Home") { body }, columns: columns, rows: rows)
            for key: TerminalKey in [.down, .down, .pageDown, .end, .up, .home, .character("x")] {
                _ = screen.press(key)
                #expect(screen.lines.count == max(1, rows))
                #expect(screen.lines.allSatisfy { $0.width <= max(1, columns) })
            }
        }
    }

    @Test func `a terminal of ten columns and three rows shows the title and two lines`() {
        let tiny = terminal(books(["one", "two", "three"]), columns: 10, rows: 3)
        #expect(text(tiny) == "Books\n• [ one ]\n• [ two ]")
    }

    @Test func `a narrow terminal shows the title and the selected tab rather than what leads away`() {
        let narrow = terminal(
            .of("The Cruise", tabs: ["Catalogue", "Loans"], selected: 1, back: "Catalogue") {
                Text((0..<9).map(String.init).joined(separator: "\n"))
            }, columns: 18, rows: 6)
        #expect(text(narrow) == " 1 [2 Loans]\n‹ The Cruise\n0\n1\n2\nq quit  1-3/9")
    }

    @Test func `what keys do is shown as far as they do something`() {
        func keys(_ drawing: WindowDrawing, _ keys: TerminalKey...) -> String? {
            var screen = terminal(drawing)
            _ = screen.press(keys)
            return screen.lines.last?.text
        }
        #expect(keys(.of { Text("nothing to do") }) == "q quit")
        #expect(keys(.of(isLoading: true) { Button("Add", id: "add") }) == "↑↓ move  return use  q quit  …")
        #expect(keys(.of { form }, .down) == "↑↓ move  return submit  esc leave")
        #expect(keys(.of { form }, .down, .down, .down) == "↑↓ move  ←→ choose  q quit")
        #expect(
            keys(.of { Field("Note", id: "note", content: .multiline) }, .down)
                == "↑↓ move  return new line  esc leave")
        #expect(
            keys(.of(tabs: ["a", "b"], modal: .of("Sure?", number: 2) { Button("Yes", id: "yes") }) { form })
                == "↑↓ move  return use  esc back  q quit")
        #expect(
            keys(.of(tabs: ["a", "b"], back: "c", alert: WindowDrawing.Alert(title: "No", message: "why")) { form })
                == "↑↓ move  return use  esc close  q quit")
        #expect(keys(.of { Text(String(repeating: "\n", count: 99)) }) == "↑↓ scroll  q quit  1-21/100")
    }

    @Test func `the description of an image leaves room for the texts beside it`() {
        let screen = terminal(
            .of {
                Image("/a.png", description: "A map of the whole world")
                Image("/b.png", description: "")
                List(["Moby-Dick", "Narrative of the Shipwreck of the Essex"], id: \.self) { title in
                    Image("/c.png", description: "Cover of \(title)")
                    Text(title)
                }
            }, columns: 61, rows: 10)
        #expect(
            screen.lines.dropFirst(2).prefix(4).map(\.text) == [
                "[image: A map of the whole world]",
                "• [Cover of Moby-Dick]  Moby-Dick",
                "• [Cover of Narrativ…]  Narrative of the Shipwreck of the",
                "                        Essex",
            ])
    }

    @Test func `an image that is not there has its reason`() {
        let screen = terminal(
            .of {
                Image("/a.png", description: "A map").problem("it is no image")
                Image("/b.png", description: "").problem("there is no file")
                List(["Emma", "Ada"], id: \.self) { title in
                    Image("/c.png", description: title == "Emma" ? title : "").problem("the server has no cover")
                    Text("1815")
                }
            }, rows: 12)
        #expect(
            screen.lines.dropFirst(2).prefix(7).map(\.text) == [
                "[image: A map]",
                "! it is no image",
                "! there is no file",
                "• [Emma]                1815",
                "  ! the server has no",
                "  cover",
                "• ! the server has no   1815",
            ])
    }

    // MARK: Focus

    @Test func `the focus goes from control to control, and does not begin in a field`() {
        var screen = terminal(.of { form })
        #expect(screen.focus == nil)
        let keys = ["search", "name", "sort", "free", "books/a/:0", "books/a/borrow", "books/b/:0", "books/b/borrow"]
        for key in keys {
            #expect(screen.press(.down) == .act([]))
            #expect(screen.focus == view(key))
        }
        _ = screen.press(.down)
        #expect(screen.focus == view("books/b/borrow"))
        for key in keys.reversed().dropFirst() {
            _ = screen.press(.up)
            #expect(screen.focus == view(key))
        }
    }

    @Test func `the focused control is always visible`() {
        var screen = terminal(books((0..<100).map { "Book \($0)" }), rows: 10)
        for key in Array(repeating: TerminalKey.down, count: 120) + Array(repeating: .up, count: 120) {
            _ = screen.press(key)
            #expect(focusedLines(screen).count == 1)
        }
        _ = screen.press(.pageDown)
        _ = screen.press(.pageDown)
        #expect(screen.focus == view(":0/Book%2012/borrow"))
        _ = screen.press(.end)
        #expect(text(screen).contains("Book 99"))
        screen.resize(TerminalScreen.Size(columns: 20, rows: 3))
        #expect(focusedLines(screen).count == 1)
        _ = screen.press(.home)
        #expect(screen.focus == view(":0/Book%200/borrow"))
    }

    @Test func `arrows scroll where no control is near`() {
        let text = (0..<50).map { "line \($0)" }.joined(separator: "\n")
        var screen = terminal(
            .of {
                Button("First", id: "first")
                Text(text)
                Button("Last", id: "last")
            }, rows: 12)
        _ = screen.press(.down)
        #expect(screen.focus == view("first"))
        for _ in 0..<5 { _ = screen.press(.down) }
        _ = screen.press(.down)
        #expect(screen.focus == view("last"))
    }

    @Test func `a redrawn window keeps the focus, and the place of its line`() {
        var screen = terminal(books((0..<50).map { "\($0)" }), rows: 12)
        for _ in 0..<20 { _ = screen.press(.down) }
        let focus = screen.focus, lines = focusedLines(screen)
        screen.show(books(["x", "y", "z"] + (0..<50).map { "\($0)" }))
        #expect(screen.focus == focus && focusedLines(screen) == lines)
        screen.show(books(["20"]))
        #expect(screen.focus == focus && focusedLines(screen).count == 1)
    }

    @Test func `the focus goes to the neighbour of a control that disappears`() {
        var screen = terminal(books(["a", "b", "c"]))
        _ = screen.press(.down)
        #expect(screen.focus == view(":0/b/borrow"))
        screen.show(books(["a", "c"]))
        #expect(screen.focus == view(":0/c/borrow"))
        screen.show(books(["a"]))
        #expect(screen.focus == view(":0/a/borrow"))
        screen.show(.of {})
        screen.show(books(["d"]))
        #expect(screen.focus == view(":0/d/borrow"))
    }

    @Test(arguments: [(true, false), (false, true), (true, true)])
    func `a button keeps the focus while it cannot be used`(isDisabled: Bool, isBusy: Bool) {
        func books(busy: String? = nil) -> WindowDrawing {
            .of {
                List(["a", "b", "c"], id: \.self) { title in
                    Button(title, id: "borrow").disabled(isDisabled && title == busy).busy(isBusy && title == busy)
                }
            }
        }
        var screen = terminal(books())
        _ = screen.press(.down)
        screen.show(books(busy: "b"))
        #expect(screen.focus == view(":0/b/borrow"))
        #expect(screen.press(.enter) == .act([]))
        screen.show(books())
        #expect(screen.press([.enter]) != .act([]))
        for (key, place) in [(TerminalKey.down, "c"), (.up, "a")] {
            screen.show(books())
            _ = screen.press([.home, .down])
            screen.show(books(busy: "b"))
            _ = screen.press(key)
            #expect(screen.focus == view(":0/\(place)/borrow"))
        }
        screen.show(.of {})
        screen.show(books())
        #expect(screen.focus == view(":0/a/borrow"))
        screen.show(books(busy: "a"))
        _ = screen.press(.home)
        #expect(screen.focus == view(":0/b/borrow"))
    }

    @Test func `a screen to which one returns has the focus where it was`() {
        let list = books(["a", "b", "c"])
        var page = WindowDrawing.of("Page", back: "Books") { Button("Leave", id: "leave") }
        page.screen?.number = 2
        var screen = terminal(list)
        _ = screen.press(.down)
        screen.show(page)
        #expect(screen.focus == .view(screen: 2, ViewKey(rawValue: "leave")))
        #expect(screen.press(.escape) == .act([.goBack]))
        screen.show(list)
        #expect(screen.focus == view(":0/b/borrow"))
    }

    @Test func `nothing that is covered can be reached`() {
        var screen = terminal(
            .of {
                Overlay {
                    Button("Try again", id: "retry")
                } over: {
                    Button("Borrow", id: "borrow")
                }
            })
        _ = screen.press(.down)
        #expect(screen.focus == view(":0/:0/retry"))
        #expect(text(screen).contains("░ [ Borrow ]"))
    }

    // MARK: Actions

    @Test func `return presses, follows and switches`() {
        var screen = terminal(.of { form })
        for _ in 0..<4 { _ = screen.press(.down) }
        let values = ["search": "", "name": "Ada", "sort": "t", "free": "false"]
        let on = values.merging(["free": "true"]) { $1 }
        #expect(
            screen.press(.enter) == .act([.send(ViewEvent(.change, "free", value: "true", values: on), screen: 1)]))
        // The switch is as the screen shows it.
        #expect(text(screen).contains("[ ] Free"))
        _ = screen.press(.tab)
        #expect(screen.press(.enter) == .act([.follow(.to("book"), screen: 1)]))
        _ = screen.press(.right)
        #expect(
            screen.press(.character(" "))
                == .act([.send(ViewEvent(.press, "borrow", rows: ["a"], values: values), screen: 1)]))
    }

    @Test func `a live field sends each change, and keeps what is typed while it is redrawn`() {
        var screen = terminal(.of { form })
        _ = screen.press(.down)
        var values = ["search": "m", "name": "Ada", "sort": "t", "free": "false"]
        #expect(
            screen.press(.character("m"))
                == .act([.send(ViewEvent(.change, "search", value: "m", values: values), screen: 1)]))
        _ = screen.press(.character("ö"))
        values["search"] = "m"
        #expect(
            screen.press(.backspace)
                == .act([.send(ViewEvent(.change, "search", value: "m", values: values), screen: 1)]))
        _ = screen.press(.character("q"))
        // The drawing of the first change comes late.
        screen.show(.of { Field("Search", id: "search", value: "m").live() })
        #expect(text(screen).contains("[mq____"))
        #expect(
            screen.press(.enter)
                == .act([
                    .send(ViewEvent(.submit, "search", value: "mq", values: ["search": "mq"]), screen: 1)
                ]))
        screen.show(.of { Field("Search", id: "search", value: "").live() })
        #expect(text(screen).contains("[______"))
    }

    @Test func `a text that is pasted is one change`() {
        var screen = terminal(.of { form })
        _ = screen.press(.down)
        let values = ["search": "q1 q", "name": "Ada", "sort": "t", "free": "false"]
        let change = WindowAction.send(ViewEvent(.change, "search", value: "q1 q", values: values), screen: 1)
        #expect(
            screen.press("q1 mq".map { TerminalKey.character($0) } + [.backspace, .backspace, .character("q")])
                == .act([change]))
        let submission = WindowAction.send(ViewEvent(.submit, "search", value: "q1 q", values: values), screen: 1)
        #expect(screen.press([.backspace, .character("q"), .enter, .down]) == .act([submission]))
        #expect(screen.focus == view("name"))
        #expect(screen.press([.character("x"), .interrupt, .character("y")]) == .quit)
    }

    @Test func `return is part of a text of several lines`() {
        var screen = terminal(.of { Field("Note", id: "note", content: .multiline) })
        #expect(screen.press([.down, .character("a"), .enter, .character("b")]) == .act([]))
        #expect(text(screen).contains("[a↵b____"))
    }

    @Test func `another field sends its change when it is left or submitted`() {
        var screen = terminal(.of { Field("Name", id: "name", value: "Ada") })
        _ = screen.press(.down)
        #expect(screen.press(.clear) == .act([]))
        #expect(screen.press(.character("B")) == .act([]))
        let change = WindowAction.send(ViewEvent(.change, "name", value: "B", values: ["name": "B"]), screen: 1)
        let submission = WindowAction.send(ViewEvent(.submit, "name", value: "B", values: ["name": "B"]), screen: 1)
        #expect(screen.press(.enter) == .act([change, submission]))
        _ = screen.press(.backspace)
        _ = screen.press(.character("B"))
        #expect(screen.press(.escape) == .act([change]))
        #expect(screen.focus == nil)
    }

    @Test func `a choice turns to the left and to the right`() {
        let options = ["t", "y", "p"].map { View.Option($0) }
        var screen = terminal(.of { Choice("Sort", id: "sort", value: "t", options: options) })
        for (key, value) in [(TerminalKey.right, "y"), (.left, "p"), (.enter, "y")] {
            let events = actions(screen.press(key)).map { action -> ViewEvent? in
                if case .send(let event, screen: 1) = action { event } else { nil }
            }
            #expect(events.map { $0?.kind } == [.change] && events[0]?.id == "sort" && events[0]?.value == value)
        }
    }

    @Test func `digits select tabs, escape goes back, and q quits, but not in a field`() {
        var screen = terminal(.of(tabs: ["Books", "Loans"], back: "Home") { form })
        #expect(screen.press(.character("2")) == .act([.select(tab: 1)]))
        #expect(screen.press(.character("3")) == .act([]))
        #expect(screen.press(.escape) == .act([.goBack]))
        #expect(screen.press(.character("q")) == .quit)
        _ = screen.press(.down)
        #expect(screen.press(.character("2")) != .act([.select(tab: 1)]))
        #expect(screen.press(.character("q")) != .quit)
        #expect(screen.press(.escape) == .act([]))
        #expect(screen.press(.interrupt) == .quit)
    }

    @Test func `an alert is in front of everything`() {
        var screen = terminal(books(["a"]))
        var alert = books(["a"])
        alert.alert = WindowDrawing.Alert(title: "No", message: "a reason")
        screen.show(alert)
        #expect(text(screen).hasPrefix("No\na reason\n[ OK ]"))
        #expect(screen.press(.character("1")) == .act([]))
        #expect(screen.press(.enter) == .act([.dismissAlert]))
        #expect(screen.press(.escape) == .act([.dismissAlert]))
        screen.show(books(["a"]))
        #expect(screen.focus == view(":0/a/borrow"))
    }
}

extension TerminalScreen {
    fileprivate mutating func press(_ key: TerminalKey) -> Outcome { press([key]) }
}

@Suite(.timeLimit(.minutes(5)))
struct `Keys of a terminal` {
    @Test(arguments: [
        ("a", [TerminalKey.character("a")]), ("ä鯨", [.character("ä"), .character("鯨")]),
        ("\r\n\t", [.enter, .enter, .tab]), ("\u{7F}\u{8}\u{15}\u{3}", [.backspace, .backspace, .clear, .interrupt]),
        ("\u{1B}[A\u{1B}[B\u{1B}OC\u{1B}[D", [.up, .down, .right, .left]),
        ("\u{1B}[5~\u{1B}[6~\u{1B}[H\u{1B}[F\u{1B}[1~\u{1B}[4~", [.pageUp, .pageDown, .home, .end, .home, .end]),
        ("\u{1B}[Z\u{1B}[1;5A", [.backTab, .up]), ("\u{1B}[15~\u{1B}x\u{1}b", [.character("b")]),
        ("\u{1B}\u{1B}[A", [.escape, .up]), ("\u{1B}", []),
    ])
    func `bytes are keys, whole or in pieces`(text: String, keys: [TerminalKey]) {
        var whole = TerminalKeyDecoder(), pieces = TerminalKeyDecoder()
        #expect(whole.decode(Array(text.utf8)) == keys)
        #expect(text.utf8.flatMap { pieces.decode(CollectionOfOne($0)) } == keys)
    }

    @Test func `an escape that nothing follows is a key`() {
        var decoder = TerminalKeyDecoder()
        #expect(decoder.decode([0x1B]) == [] && decoder.isUndecided)
        #expect(decoder.end() == [.escape] && !decoder.isUndecided)
        #expect(decoder.decode([0x61]) == [.character("a")])
    }

    @Test func `bytes that are no keys do no harm`() {
        var random = RandomBody(seed: 7), decoder = TerminalKeyDecoder()
        for _ in 0..<10_000 { _ = decoder.decode([UInt8.random(in: 0...255, using: &random)]) }
        _ = decoder.end()
        #expect(decoder.decode([0x61, 0x61]).last == .character("a"))
    }
}

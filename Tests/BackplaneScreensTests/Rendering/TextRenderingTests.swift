import BackplaneScreens
import Testing

@testable import BackplaneApp

@Suite(.timeLimit(.minutes(5)))
struct `Windows as text` {
    private func text(_ drawing: WindowDrawing) -> String { TextRendering.text(of: drawing) }

    @ViewBuilder private var catalogue: [View] {
        Field("Search", id: "search", value: "moby", content: .search)
        Choice(
            "Sort", id: "sort", value: "year",
            options: [View.Option("title", "Title"), View.Option("year", "Year")])
        Toggle("Only available", id: "only", isOn: true)
        List(["Moby-Dick", "Emma"], id: \.self) { title in
            Link(title, to: .to("book"))
            Button("Borrow", id: "borrow").busy(title == "Moby-Dick").disabled(title == "Emma")
        }
    }

    @Test func `a list with controls`() {
        #expect(
            text(.of(tabs: ["Books", "Loans"]) { catalogue }) == """
                (Books)  Loans
                # Books
                Search: [moby]
                Sort: <Year>
                [x] Only available
                • Moby-Dick →  [ Borrow ] (busy)
                • Emma →  [ Borrow ] (disabled)
                """)
    }

    @Test func `numbers name what can be used`() {
        let (text, targets) = TextRendering.numberedText(of: .of(tabs: ["Books", "Loans"], back: "Home") { catalogue })
        #expect(
            text == """
                (Books)  1) Loans
                2) ‹ Home
                # Books
                3) Search: [moby]
                4) Sort: <Year>
                5) [x] Only available
                • 6) Moby-Dick →  [ Borrow ] (busy)
                • 7) Emma →  [ Borrow ] (disabled)
                """)
        #expect(
            targets.map(\.label) == ["Loans", "Home", "Search", "Sort", "Only available", "Moby-Dick", "Emma"])
        #expect(targets[6].rows == ["Emma"])
    }

    @Test func `texts, sections, tables and images`() {
        let drawing = WindowDrawing.of(isLoading: true) {
            Heading("Moby-Dick")
            Image("https://example.org/c.png", description: "Cover")
            Text("Call me\nIshmael.")
            Section("Copies") {
                Table(["Library", "Year"]) {
                    Record(id: "1") {
                        Text("Nantucket")
                        Text("1851")
                    }
                    Record(id: "2") {
                        Text("鯨")
                        Text("1956")
                    }
                }
                ProgressBar("Read", fraction: 0.25)
            }
            Field("Note", id: "note", prompt: "What you think").problem("too short")
            Field("Key", id: "key", value: "secret", content: .secret)
            Link("Elsewhere", address: "https://example.org")
        }
        #expect(
            text(drawing) == """
                …
                # Moby-Dick
                [image: Cover]
                Call me
                Ishmael.

                ## Copies
                  Library    Year
                  Nantucket  1851
                  鯨         1956
                  Read [#####---------------] 25 %
                Note: [] (What you think)
                ! too short
                Key: [••••••]
                Elsewhere → https://example.org
                """)
    }

    @Test func `something that covers the rest`() {
        let overlay = Overlay {
            Text("no connection").style(.critical)
            Button("Try again", id: "retry")
        } over: {
            Text("x")
            Button("Borrow", id: "borrow")
        }
        let drawing = WindowDrawing.of { overlay }
        #expect(
            text(drawing) == """
                # Books
                │ no connection
                │ [ Try again ]
                ░ x
                ░ [ Borrow ]
                """)
        #expect(drawing.targets.map(\.label) == ["Try again"])
        #expect(
            text(
                .of {
                    Overlay {
                    } over: {
                        Text("x")
                    }
                }) == "# Books\nx")
    }

    @Test func `a modal screen and an alert`() {
        var drawing = WindowDrawing.of(
            tabs: ["Books", "Loans"], modal: .of("Borrowed", number: 2) { Text("Until June") }
        ) { Button("Borrow", id: "borrow") }
        #expect(
            text(drawing) == """
                ░ (Books)  Loans
                ░ # Books
                ░ [ Borrow ]
                │ ‹ Close
                │ # Borrowed
                │ Until June
                """)
        #expect(drawing.targets.map(\.label) == ["Close"])
        drawing.alert = WindowDrawing.Alert(title: "No", message: "a reason")
        #expect(
            text(drawing) == """
                ░ (Books)  Loans
                ░ # Books
                ░ [ Borrow ]
                ░ ‹ Close
                ░ # Borrowed
                ░ Until June
                │ ! No
                │ a reason
                │ [ OK ]
                """)
        #expect(drawing.targets.map(\.id) == [.alert])
    }

    @Test(arguments: View.Kind.allCases)
    func `nothing in a text moves a cursor`(kind: View.Kind) {
        let hostile = "a\u{1B}[2J\u{7}\r\n\u{202E}b\u{85}\u{2028}c\tд"
        var view = View(kind, id: "v", text: hostile)
        (view.value, view.prompt, view.problem) = (hostile, hostile, hostile)
        view.options = [View.Option(hostile)]
        view.destination = .to("page")
        let drawing = WindowDrawing.of(
            hostile, tabs: [hostile, hostile], back: hostile, modal: .of(hostile, number: 2) { view },
            alert: WindowDrawing.Alert(title: hostile, message: hostile)
        ) { view }
        let shown = text(drawing) + TextRendering.numberedText(of: drawing).text
        for scalar in shown.unicodeScalars where scalar != "\n" {
            #expect(scalar.properties.generalCategory != .control && !scalar.properties.isBidiControl)
        }
    }

    // MARK: Layout

    @Test(arguments: [
        ("one two three", 7, ["one two", "three"]), ("abcdefgh", 3, ["abc", "def", "gh"]), ("", 5, [""]),
        ("図書館の本", 4, ["図書", "館の", "本"]), ("a 図書館", 5, ["a", "図書", "館"]), ("図", 1, ["図"]),
        ("a\n\nb", 9, ["a", "", "b"]), ("a  b", 2, ["a ", "b"]),
    ])
    func `a text is broken between words`(text: String, width: Int, lines: [String]) {
        #expect(TextLayout.wrapped(text, to: width).lines.map { $0.spans.map(\.text).joined() } == lines)
    }

    @Test(arguments: [
        ([5, 5], 20, [5, 5]), ([5, 50], 20, [5, 15]), ([50, 50], 20, [10, 10]), ([3, 50, 40], 21, [3, 9, 9]),
        ([5, 5], 0, [1, 1]), ([], 10, []),
    ])
    func `the widest columns become narrower`(widths: [Int], width: Int, limited: [Int]) {
        #expect(TextLayout.limited(widths, to: width) == limited)
    }

    @Test(arguments: 0..<10)
    func `no line is wider than its width`(seed: Int) {
        var random = RandomBody(seed: seed)
        for _ in 0..<50 {
            let body = random.body(depth: 1)
            for width in [20, 40, 80] {
                let block = TextLayout(isTerminal: true).block(body, under: nil, width: width)
                #expect(block.width <= width, "\(block.lines.map(\.text))")
            }
        }
    }
}

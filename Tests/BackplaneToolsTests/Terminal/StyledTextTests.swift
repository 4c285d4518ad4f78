import BackplaneHost
import Testing

@testable import BackplaneTools

struct TableTests {
    @Test(arguments: [
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("図書館", 6), ("ｱ", 1), ("Ａ", 2), ("한국", 4), ("🙂", 2), ("👩‍👩‍👧", 2),
        ("🇩🇪", 2), ("❤\u{FE0F}", 2), ("→…–", 3), ("\u{200B}", 0),
        ("\u{1B}", 0), ("ไทย", 3), ("שלום", 4),
    ])
    func `characters are as wide as a terminal shows them`(text: String, width: Int) {
        #expect(text.displayWidth == width)
    }

    @Test(arguments: [
        ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("図書館", 6, "図書館"), ("図書館", 5, "図書…"), ("図書館", 4, "図…"),
        ("e\u{301}tage", 3, "e\u{301}t…"),
    ])
    func `a text is shortened to the columns that there are`(text: String, columns: Int, fitted: String) {
        #expect(text.fitted(to: columns) == fitted)
        #expect(text.fitted(to: columns).displayWidth <= columns)
    }

    @Test func `columns stand under each other by display width, and lines end with their text`() {
        let table = Table(
            ["NAME", "STATE", "WHY"],
            [["図書館", "ready", ""], ["e\u{301}tage", "failed", "a long reason, unwrapped"], ["a", "", ""]])
        #expect(
            table.lines(colour: false) == [
                "NAME    STATE   WHY", "図書館  ready", "e\u{301}tage   failed  a long reason, unwrapped", "a",
            ])
    }

    @Test func `a row that is wider than the terminal continues on indented lines, with nothing cut`() {
        let table = Table(
            ["NAME", "STATE", "WHY"],
            [["図書館", "ready", ""], ["e\u{301}tage", "failed", "a long reason"], ["a", "", "short"]])
        #expect(
            table.lines(colour: false, width: 14) == [
                "NAME    STATE", "    WHY", "図書館  ready", "e\u{301}tage   failed", "    a long rea", "    son", "a",
                "    short",
            ])
        #expect(
            table.lines(colour: false, width: 8) == [
                "NAME", "    STAT", "    E", "    WHY", "図書館", "    read", "    y", "e\u{301}tage", "    fail",
                "    ed",
                "    a lo", "    ng r", "    easo", "    n", "a", "    shor", "    t",
            ])
        #expect(table.lines(colour: false, width: 29) == table.lines(colour: false))
    }

    @Test(arguments: [
        ("plain", "plain"), ("a\nb", #"a\u{A}b"#), ("\u{1B}[31m", #"\u{1B}[31m"#), ("\u{202E}x", #"\u{202E}x"#),
        ("👩‍👩‍👧", "👩‍👩‍👧"), ("\u{2028}", #"\u{2028}"#),
    ])
    func `what moves the cursor or turns text around is spelled out`(text: String, printable: String) {
        #expect(text.printable == printable)
    }
}

struct TreeTests {
    private let tree = Tree(
        ["root"], [Tree(["a"], [Tree(["b"]), Tree([Span("c", .bad)])]), Tree(["d"], [Tree(["e"])])])

    @Test func `branches hang from their trunk`() {
        #expect(tree.lines(.boxes, colour: false) == ["root", "├─ a", "│  ├─ b", "│  └─ c", "└─ d", "   └─ e"])
        #expect(tree.lines(.ascii, colour: false) == ["root", "|- a", "|  |- b", "|  `- c", "`- d", "   `- e"])
    }

    @Test(
        arguments: [
            ([:], true), (["TERM": "dumb"], false), (["LANG": "C"], false), (["LANG": "C.UTF-8"], true),
            (["LC_ALL": "POSIX", "LANG": "de_DE.UTF-8"], false),
            (["LC_ALL": "", "LANG": "de_DE.UTF-8"], true), (["LC_CTYPE": "C", "LANG": "de_DE.UTF-8"], false),
        ] as [([String: String], Bool)])
    func `boxes are for terminals and locales that are not known to lack them`(
        environment: [String: String], boxes: Bool
    ) {
        #expect(Terminal.pen { environment[$0] }.branch == (boxes ? Tree.Pen.boxes : .ascii).branch)
    }
}

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

    @Test(arguments: [
        ("plain", "plain"), ("a\nb", #"a\u{A}b"#), ("\u{1B}[31m", #"\u{1B}[31m"#), ("\u{202E}x", #"\u{202E}x"#),
        ("👩‍👩‍👧", "👩‍👩‍👧"), ("\u{2028}", #"\u{2028}"#),
    ])
    func `what moves the cursor or turns text around is spelled out`(text: String, printable: String) {
        #expect(text.printable == printable)
    }
}

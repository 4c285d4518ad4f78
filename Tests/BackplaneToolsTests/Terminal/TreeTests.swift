import Testing

@testable import BackplaneTools

@Suite struct TreeTests {
    private let tree = Tree(
        ["root"], [Tree(["a"], [Tree(["b"]), Tree([Span("c", .bad)])]), Tree(["d"], [Tree(["e"])])])

    @Test func `branches hang from their trunk`() {
        #expect(tree.lines(.boxes, colour: false) == ["root", "├─ a", "│  ├─ b", "│  └─ c", "└─ d", "   └─ e"])
        #expect(tree.lines(.ascii, colour: false) == ["root", "|- a", "|  |- b", "|  `- c", "`- d", "   `- e"])
    }

    @Test func `colour changes nothing but the colour`() {
        let coloured = tree.lines(.boxes, colour: true)
        #expect(coloured.map { $0.replacing(#/\u{1B}\[\d+m/#, with: "") } == tree.lines(.boxes, colour: false))
        #expect(coloured[3].hasSuffix("\u{1B}[31mc\u{1B}[0m"))
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

import Testing

@testable import BackplaneTools

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

import Testing

@testable import Backplane
@testable import BackplaneHost

@Suite struct LayoutPairTests {
    static let pairs = structPairs + enumPairs + containerPairs + genericPairs + recursivePairs + hiddenPairs

    @Test(arguments: pairs)
    func `types that differ in one thing have unequal layouts`(pair: Pair) throws {
        let texts = try pair.texts()
        #expect(texts.left != texts.right)
    }

    @Test(arguments: equals)
    func `types declared alike have equal layouts`(pair: Pair) throws {
        let texts = try pair.texts()
        #expect(texts.left == texts.right)
    }

    @Test(arguments: pairs + equals)
    func `a layout is the same each time it is read`(pair: Pair) throws {
        let texts = try pair.texts()
        let again = try pair.texts()
        #expect(texts == again)
    }

    @Test(arguments: pairs + equals)
    func `a layout's text is one line that reads back as the layout`(pair: Pair) throws {
        for type in [pair.left, pair.right] {
            let layout = try TypeLayout(of: type)
            var parser = LayoutParser(layout.text.utf8)
            let parsed = try parser.type()
            #expect(parsed == layout)
            #expect(parser.isAtEnd)
            #expect(!layout.text.contains { $0.isNewline })
        }
    }
}

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
    func `a layout is one line, which the host reads`(pair: Pair) throws {
        for type in [pair.left, pair.right] {
            let text = try layout(of: type)
            #expect(ContractLayout(text: "state: \(text)") != nil)
            #expect(!text.contains { $0.isNewline })
        }
    }
}

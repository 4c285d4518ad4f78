import Testing

@testable import Backplane

struct TypeNameTests {
    private struct Hidden {}
    private struct Box<Content> {}
    struct Open {}

    @Test func `a type is called as it is declared, private or not, optimised or not`() {
        #expect(typeName(of: Open.self) == "Open")
        #expect(typeName(of: Hidden.self) == "Hidden")
        #expect(typeName(of: Box<Hidden>.self) == "Box<Hidden>")
        #expect(typeName(of: Box<(Open, Int)>.self) == "Box<(Open, Int)>")
    }

    @Test(arguments: [
        ("(Numbers in _D6CEA1BED941F67D)", "Numbers"), ("Box<(A in _1), (B in _2)>", "Box<A, B>"),
        ("(Int, Int)", "(Int, Int)"), ("() -> ()", "() -> ()"), ("Open", "Open"),
        ("(", "("),
    ])
    func `what the optimiser adds to a name is left out`(written: String, name: String) {
        #expect(withoutPrivateMarks(written) == name)
    }
}

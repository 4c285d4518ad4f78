import Testing

@testable import Backplane
@testable import BackplaneCommand

@Suite struct OrderedResultTests {
    private let shape = JSONShape.object([
        .init(name: "title", shape: .string),
        .init(
            name: "loans",
            shape: .array(.object([.init(name: "to", shape: .string), .init(name: "at", shape: .number)]))),
        .init(name: "age", shape: .optional(.integer)),
    ])

    private func ordered(_ text: String, _ shape: JSONShape?) -> String {
        String(decoding: OrderedResult(Array(text.utf8), shape).text, as: UTF8.self)
    }

    @Test func `members stand in the order of the shape, and others after them, sorted`() {
        #expect(
            ordered(#"{"b":1,"age":3,"loans":[{"at":1.50,"to":"x"}],"a":{"d":1,"c":2},"title":"é\n"}"#, shape)
                == #"{"title":"é\n","loans":[{"to":"x","at":1.50}],"age":3,"a":{"c":2,"d":1},"b":1}"#)
    }

    @Test(arguments: [
        "7", "1e400", "123456789012345678901234567890", "\"a\"", "null", "[]", "{}", "[true,false]", "", "no",
    ])
    func `a value without members is printed as it came`(text: String) {
        #expect(ordered(text, nil) == text && ordered(text, shape) == text)
    }

    @Test func `members of an optional value are ordered, too`() {
        #expect(ordered(#"{"age":1,"title":"a"}"#, .optional(shape)) == #"{"title":"a","age":1}"#)
    }

    @Test func `a result that is deeper than any should be is printed as it came`() {
        let deep = String(repeating: "[", count: 513) + String(repeating: "]", count: 513)
        #expect(ordered(" " + deep, nil) == " " + deep)
        #expect(ordered(" " + deep.dropFirst().dropLast(), nil) == String(deep.dropFirst().dropLast()))
    }

    @Test func `without a shape they are sorted`() {
        #expect(ordered(#"{"b": [ {"d" : 1, "c":2} ], "a":0}"#, nil) == #"{"a":0,"b":[{"c":2,"d":1}]}"#)
    }
}

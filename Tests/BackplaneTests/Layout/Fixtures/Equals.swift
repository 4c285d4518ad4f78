import Foundation

/// Types whose declarations on both sides make no difference to their values: the controls, without which pairs that do
/// not match would prove nothing.
let equals = [
    Pair("a struct of standard types", Left.Plain.self, Right.Plain.self),
    Pair("a struct of structs", Left.Nested.self, Right.Nested.self),
    Pair("an array of a struct", [Left.Plain].self, [Right.Plain].self),
    Pair("a dictionary of arrays of a struct", [String: [Left.Plain]].self, [String: [Right.Plain]].self),
    Pair("an optional of a struct", Left.Plain?.self, Right.Plain?.self),
    Pair("a tuple with labels", Left.Tuples.self, Right.Tuples.self),
    Pair("an enum with and without payloads", Left.Cases.self, Right.Cases.self),
    Pair("an enum with a raw type", Left.Raw.self, Right.Raw.self),
    Pair("a generic type", Left.Boxed<Int>.self, Right.Boxed<Int>.self),
    Pair("a generic type of a struct", Box<Left.Plain>.self, Box<Right.Plain>.self),
    Pair("an argument that no field mentions", Phantom<Left.Plain>.self, Phantom<Right.Plain>.self),
    Pair("a type in a generic type", Left.Around<Int>.Inside.self, Right.Around<Int>.Inside.self),
    Pair("a type that contains itself", Left.Tree.self, Right.Tree.self),
    Pair("two types that contain each other", Left.Ping.self, Right.Ping.self),
    Pair("an indirect enum", Left.List.self, Right.List.self),
    Pair("`let` and `var`", Left.Constant.self, Right.Constant.self),
    Pair("access and initial values", Left.Open.self, Right.Open.self),
    Pair("methods, computed and static properties", Left.Rich.self, Right.Rich.self),
    Pair("conformances", Left.Conforming.self, Right.Conforming.self),
    Pair("`indirect` once and on every case with payload", Left.Indirect.self, Right.Indirect.self),
    Pair("a case without payload before and after one with", Left.Sorted.self, Right.Sorted.self),
    Pair("declared inside and in an extension", Left.Place.Within.self, Right.Place.Within.self),
    Pair(
        "declared in an extension for some arguments", Left.Around<Int>.Sometimes.self, Right.Around<Int>.Sometimes.self
    ),
    Pair("a type and its other name", Left.Aliased.self, Right.Aliased.self),
    Pair("private types of two files", sameHere, sameThere),
]

extension Left { struct Plain { var id: Int, text: String, date: Date?, tags: Set<String>, ages: [String: Duration] } }
extension Right { struct Plain { var id: Int, text: String, date: Date?, tags: Set<String>, ages: [String: Duration] } }

extension Left { struct Nested { var plain: Plain, more: [Plain], box: Box<Plain?> } }
extension Right { struct Nested { var plain: Plain, more: [Plain], box: Box<Plain?> } }

extension Left { struct Tuples { var place: (x: Int, y: Int), other: (Plain, ()) } }
extension Right { struct Tuples { var place: (x: Int, y: Int), other: (Plain, ()) } }

extension Left { enum Cases { case none, one(Plain), two(x: Int, String), both(only: Foundation.Data) } }
extension Right { enum Cases { case none, one(Plain), two(x: Int, String), both(only: Foundation.Data) } }

extension Left { enum Raw: String { case new, old } }
extension Right { enum Raw: String { case new, old } }

extension Left { struct Boxed<Value: Sendable>: Sendable { var value: Value, values: [Value] } }
extension Right { struct Boxed<Value: Sendable>: Sendable { var value: Value, values: [Value] } }

extension Left { struct Around<Value: Sendable>: Sendable { struct Inside: Sendable { var value: Value } } }
extension Right { struct Around<Value: Sendable>: Sendable { struct Inside: Sendable { var value: Value } } }

extension Left { struct Tree { var leaf: Int, trees: [Tree] } }
extension Right { struct Tree { var leaf: Int, trees: [Tree] } }

extension Left {
    struct Ping { var pongs: [Pong] }
    struct Pong { var pings: [String: Ping] }
}
extension Right {
    struct Ping { var pongs: [Pong] }
    struct Pong { var pings: [String: Ping] }
}

extension Left { indirect enum List: Sendable { case end, item(Int, List) } }
extension Right { indirect enum List: Sendable { case end, item(Int, List) } }

extension Left { struct Constant { let id: Int, text: String } }
extension Right { struct Constant { var id: Int, text: String } }

extension Left { struct Open { var id: Int, text: String } }
extension Right { struct Open { private(set) var id = 1, text = "" } }

extension Left { struct Rich { var id: Int } }
extension Right {
    struct Rich {
        static let none = Rich(id: 0)
        var id: Int
        var next: Int { id + 1 }
        func twice() -> Int { id * 2 }
    }
}

extension Left { struct Conforming { var id: Int } }
extension Right { struct Conforming: Hashable, Codable, Comparable { var id: Int } }
extension Right.Conforming {
    static func < (a: Self, b: Self) -> Bool { a.id < b.id }
}

extension Left { indirect enum Indirect { case end, item(Int), text(String) } }
extension Right {
    enum Indirect {
        case end
        indirect case item(Int)
        indirect case text(String)
    }
}

extension Left { enum Sorted { case end, item(Int) } }
extension Right { enum Sorted { case item(Int), end } }

extension Left { enum Place { struct Within { var id: Int } } }
extension Right { enum Place {} }
extension Right.Place { struct Within { var id: Int } }

extension Left.Around { struct Sometimes: Sendable { var value: Value } }
extension Right.Around where Value: Hashable { struct Sometimes: Sendable { var value: Value } }

extension Left { struct Aliased { var text: String, bytes: [UInt8] } }
extension Right {
    struct Aliased { var text: Words, bytes: Bytes }
    typealias Words = String
    typealias Bytes = [UInt8]
}

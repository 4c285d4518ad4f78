import Foundation

@testable import Backplane

/// Two copies of one source, as two libraries would be built from it. Types in them that have the same name stand for
/// one type of two versions of a library.
enum Left {}
enum Right {}

func layout(of type: Any.Type) throws -> String {
    var reader = LayoutReader()
    return try reader.layout(of: type)
}

/// A type as each side has it.
struct Pair: Sendable, CustomStringConvertible {
    let description: String
    let left, right: any Sendable.Type

    init(_ description: String, _ left: any Sendable.Type, _ right: any Sendable.Type) {
        (self.description, self.left, self.right) = (description, left, right)
    }

    /// The layouts' texts with what tells the sides apart taken out of the names.
    func texts() throws -> (left: String, right: String) {
        (Self.sideless(try layout(of: left)), Self.sideless(try layout(of: right)))
    }

    static func sideless(_ text: String) -> String {
        text.replacing("BackplaneTests.Left.", with: "BackplaneTests.").replacing(
            "BackplaneTests.Right.", with: "BackplaneTests.")
    }
}

/// Types that differ in one thing.
let pairs = structPairs + enumPairs + containerPairs + genericPairs + recursivePairs + hiddenPairs

/// Structs that differ in one thing.
let structPairs = [
    Pair("a field's name", Left.FieldName.self, Right.FieldName.self),
    Pair("Int and UInt", Left.Signedness.self, Right.Signedness.self),
    Pair("Int and Int64", Left.Alias.self, Right.Alias.self),
    Pair("Int64 and Int32", Left.Width.self, Right.Width.self),
    Pair("Double and Int64", Left.Floating.self, Right.Floating.self),
    Pair("two fields of one type in another order", Left.SameOrder.self, Right.SameOrder.self),
    Pair("two fields of different types in another order", Left.Order.self, Right.Order.self),
    Pair("one more field", Left.More.self, Right.More.self),
    Pair("one more field that takes no room", Left.MoreEmpty.self, Right.MoreEmpty.self),
    Pair("Int and Int?", Left.Absent.self, Right.Absent.self),
    Pair("Int? and Int??", Left.AbsentTwice.self, Right.AbsentTwice.self),
    Pair("an optional array and an array of optionals", Left.AbsentElements.self, Right.AbsentElements.self),
    Pair("String and Substring", Left.Text.self, Right.Text.self),
    Pair("Date and Double", Left.Moment.self, Right.Moment.self),
    Pair("Data and URL", Left.Payload.self, Right.Payload.self),
    Pair("a field and a struct of that field", Left.Wrapped.self, Right.Wrapped.self),
    Pair("a struct and an enum", Left.Kind.self, Right.Kind.self),
    Pair("an own type named as Foundation's and Foundation's", Left.OwnData.self, Right.OwnData.self),
    Pair("a type and another of the same shape", Left.Named.self, Right.Named.self),
    Pair("three levels down", Left.Shop.self, Right.Shop.self),
    Pair("the alignment", Left.Aligned.self, Right.Aligned.self),
    Pair("what a property wrapper holds", Left.Wrapping.self, Right.Wrapping.self),
    Pair("an own `Data` and an own `Data` with another field", Left.Data.self, Right.Data.self),
]

extension Left { struct FieldName { var limit: Int } }
extension Right { struct FieldName { var count: Int } }

extension Left { struct Signedness { var limit: Int } }
extension Right { struct Signedness { var limit: UInt } }

extension Left { struct Alias { var limit: Int } }
extension Right { struct Alias { var limit: Int64 } }

extension Left { struct Width { var limit: Int64 } }
extension Right { struct Width { var limit: Int32 } }

extension Left { struct Floating { var limit: Double } }
extension Right { struct Floating { var limit: Int64 } }

extension Left { struct SameOrder { var first, second: Int } }
extension Right { struct SameOrder { var second, first: Int } }

extension Left { struct Order { var limit: Int, text: String } }
extension Right { struct Order { var text: String, limit: Int } }

extension Left { struct More { var limit: Int } }
extension Right { struct More { var limit: Int, skip: Int } }

extension Left { struct MoreEmpty { var limit: Int } }
extension Right { struct MoreEmpty { var limit: Int, mark: Empty } }
struct Empty {}

extension Left { struct Absent { var limit: Int } }
extension Right { struct Absent { var limit: Int? } }

extension Left { struct AbsentTwice { var limit: Int? } }
extension Right { struct AbsentTwice { var limit: Int?? } }

extension Left { struct AbsentElements { var limits: [Int]? } }
extension Right { struct AbsentElements { var limits: [Int?] } }

extension Left { struct Text { var text: String } }
extension Right { struct Text { var text: Substring } }

extension Left { struct Moment { var date: Date } }
extension Right { struct Moment { var date: Double } }

extension Left { struct Payload { var bytes: Foundation.Data } }
extension Right { struct Payload { var bytes: URL } }

extension Left { struct Wrapped { var limit: Int } }
extension Right { struct Wrapped { var limit: Limit } }
struct Limit { var limit: Int }

extension Left { struct Kind {} }
extension Right { enum Kind {} }

extension Left { struct OwnData { var bytes: Data } }
extension Right { struct OwnData { var bytes: Foundation.Data } }
extension Left { struct Data { var bytes: [UInt8] } }
extension Right { struct Data { var octets: [UInt8] } }

extension Left { struct Named { var limit: Limit } }
extension Right { struct Named { var limit: OtherLimit } }
struct OtherLimit { var limit: Int }

extension Left {
    struct Shop { var aisles: [Aisle] }
    struct Aisle { var shelves: [String: Shelf] }
    struct Shelf { var top: Label? }
    struct Label { var price: Int32 }
}
extension Right {
    struct Shop { var aisles: [Aisle] }
    struct Aisle { var shelves: [String: Shelf] }
    struct Shelf { var top: Label? }
    struct Label { var price: UInt32 }
}

extension Left { struct Aligned { var id: (Int, Int) } }
extension Right { @_alignment(16) struct Aligned { var id: (Int, Int) } }

extension Left { struct Wrapping { @Clamped var limit: Int } }
extension Right { struct Wrapping { @Clamped var limit: Int8 } }
@propertyWrapper struct Clamped<Value: Sendable>: Sendable { var wrappedValue: Value }

/// Enums that differ in one thing.
let enumPairs = [
    Pair("a case's name", Left.CaseName.self, Right.CaseName.self),
    Pair("the order of cases without payload", Left.CaseOrder.self, Right.CaseOrder.self),
    Pair("the order of cases with payload", Left.PayloadOrder.self, Right.PayloadOrder.self),
    Pair("one more case", Left.MoreCases.self, Right.MoreCases.self),
    Pair("one more case with payload", Left.MorePayloads.self, Right.MorePayloads.self),
    Pair("a payload's type", Left.PayloadType.self, Right.PayloadType.self),
    Pair("a payload and none", Left.PayloadOrNone.self, Right.PayloadOrNone.self),
    Pair("an empty payload and none", Left.EmptyPayload.self, Right.EmptyPayload.self),
    Pair("the label of a payload", Left.PayloadLabel.self, Right.PayloadLabel.self),
    Pair("a label and none", Left.PayloadLabelOrNone.self, Right.PayloadLabelOrNone.self),
    Pair("the labels of a payload in another order", Left.PayloadLabels.self, Right.PayloadLabels.self),
    Pair("one more element of a payload", Left.PayloadCount.self, Right.PayloadCount.self),
    Pair("the elements of a payload in another order", Left.PayloadElements.self, Right.PayloadElements.self),
    Pair("an indirect case", Left.IndirectCase.self, Right.IndirectCase.self),
    Pair("an indirect enum", Left.IndirectEnum.self, Right.IndirectEnum.self),
    Pair("another indirect case", Left.OtherIndirectCase.self, Right.OtherIndirectCase.self),
    Pair("the raw type", Left.RawType.self, Right.RawType.self),
    Pair("a raw type and none", Left.RawTypeOrNone.self, Right.RawTypeOrNone.self),
    Pair("an optional payload", Left.OptionalPayload.self, Right.OptionalPayload.self),
    Pair("in the type of a payload", Left.DeepPayload.self, Right.DeepPayload.self),
    Pair("in a type within the tuple of a payload", Left.DeepTuple.self, Right.DeepTuple.self),
    Pair("no case and one", Left.NoCase.self, Right.NoCase.self),
]

extension Left { enum CaseName { case new, old } }
extension Right { enum CaseName { case new, used } }

extension Left { enum CaseOrder { case new, old } }
extension Right { enum CaseOrder { case old, new } }

extension Left { enum PayloadOrder { case new(Int), old(Int) } }
extension Right { enum PayloadOrder { case old(Int), new(Int) } }

extension Left { enum MoreCases { case new, old } }
extension Right { enum MoreCases { case new, old, lost } }

extension Left { enum MorePayloads { case new(String) } }
extension Right { enum MorePayloads { case new(String), old(String) } }

extension Left { enum PayloadType { case new(Int) } }
extension Right { enum PayloadType { case new(UInt) } }

extension Left { enum PayloadOrNone { case new(Int), old(Int) } }
extension Right { enum PayloadOrNone { case new(Int), old } }

extension Left { enum EmptyPayload { case new(()) } }
extension Right { enum EmptyPayload { case new } }

extension Left { enum PayloadLabel { case new(year: Int) } }
extension Right { enum PayloadLabel { case new(month: Int) } }

extension Left { enum PayloadLabelOrNone { case new(year: Int) } }
extension Right { enum PayloadLabelOrNone { case new(Int) } }

extension Left { enum PayloadLabels { case new(year: Int, month: Int) } }
extension Right { enum PayloadLabels { case new(month: Int, year: Int) } }

extension Left { enum PayloadCount { case new(Int) } }
extension Right { enum PayloadCount { case new(Int, Int) } }

extension Left { enum PayloadElements { case new(Int, String) } }
extension Right { enum PayloadElements { case new(String, Int) } }

extension Left { enum IndirectCase { case new(Int), old(Int) } }
extension Right {
    enum IndirectCase {
        case new(Int)
        indirect case old(Int)
    }
}

extension Left { enum IndirectEnum { case new(String), old(String) } }
extension Right { indirect enum IndirectEnum { case new(String), old(String) } }

extension Left {
    enum OtherIndirectCase {
        case new(Int)
        indirect case old(Int)
    }
}
extension Right {
    enum OtherIndirectCase {
        indirect case new(Int)
        case old(Int)
    }
}

extension Left { enum RawType: Int { case new, old } }
extension Right { enum RawType: String { case new, old } }

extension Left { enum RawTypeOrNone: Int { case new, old } }
extension Right { enum RawTypeOrNone { case new, old } }

extension Left { enum OptionalPayload { case new(Bool) } }
extension Right { enum OptionalPayload { case new(Bool?) } }

extension Left { enum DeepPayload { case new(Label), old } }
extension Right { enum DeepPayload { case new(Label), old } }

extension Left { enum DeepTuple { case new(Int, label: Label), old } }
extension Right { enum DeepTuple { case new(Int, label: Label), old } }

extension Left { enum NoCase {} }
extension Right { enum NoCase { case new } }

/// Arrays, dictionaries, sets, tuples and optionals that differ in one thing: `Book` in the type of one field.
let containerPairs = [
    Pair("in an array's element", [Left.Book].self, [Right.Book].self),
    Pair("in a dictionary's value", [String: Left.Book].self, [String: Right.Book].self),
    Pair("in an array's array's element", [[Left.Book]].self, [[Right.Book]].self),
    Pair("in an optional", Left.Book?.self, Right.Book?.self),
    Pair("in an optional of an optional", Left.Book??.self, Right.Book??.self),
    Pair("in a result", Result<Left.Book, Never>.self, Result<Right.Book, Never>.self),
    Pair("in a result's failure", Result<Int, Left.NotOnShelf>.self, Result<Int, Right.NotOnShelf>.self),
    Pair("in a dictionary's value's element", [Int: [Left.Book?]].self, [Int: [Right.Book?]].self),
    Pair("in a range's bound", Range<Left.Mark>.self, Range<Right.Mark>.self),
    Pair("[String] and Set<String>", [String].self, Set<String>.self),
    Pair("[Int] and ContiguousArray<Int>", [Int].self, ContiguousArray<Int>.self),
    Pair("Set<Int8> and Set<UInt8>", Set<Int8>.self, Set<UInt8>.self),
    Pair("a dictionary's key", [Int: String].self, [Int32: String].self),
    Pair("a dictionary's value", [Int: String].self, [Int: Substring].self),
    Pair("key and value exchanged", [Int: String].self, [String: Int].self),
    Pair("Range and ClosedRange", Range<Int>.self, ClosedRange<Int>.self),
    Pair("an optional alone", Int.self, Int?.self),
    Pair("an optional of an optional alone", Int?.self, Int??.self),
    Pair("an optional array and an array of optionals alone", [Int]?.self, [Int?].self),

    Pair("the labels of a tuple", Left.TupleLabels.self, Right.TupleLabels.self),
    Pair("a label of a tuple and none", Left.TupleLabel.self, Right.TupleLabel.self),
    Pair("the labels of a tuple in another order", Left.TupleLabelOrder.self, Right.TupleLabelOrder.self),
    Pair("the elements of a tuple in another order", Left.TupleOrder.self, Right.TupleOrder.self),
    Pair("the type of a tuple's element", Left.TupleType.self, Right.TupleType.self),
    Pair("one more element", Left.TupleCount.self, Right.TupleCount.self),
    Pair("a tuple in a tuple's other end", Left.TupleNesting.self, Right.TupleNesting.self),
    Pair("in the type of a tuple's element", Left.TupleBook.self, Right.TupleBook.self),
    Pair("a tuple and a struct", Left.TupleOrStruct.self, Right.TupleOrStruct.self),
]

extension Left { struct Book { var title: String, year: Int } }
extension Right { struct Book { var title: String, year: UInt } }

extension Left { struct NotOnShelf: Error { var title: String } }
extension Right { struct NotOnShelf: Error { var name: String } }

extension Left {
    struct Mark: Comparable {
        var page: Int
        static func < (a: Self, b: Self) -> Bool { a.page < b.page }
    }
}
extension Right {
    struct Mark: Comparable {
        var page: UInt
        static func < (a: Self, b: Self) -> Bool { a.page < b.page }
    }
}

extension Left { struct TupleLabels { var place: (x: Int, y: Int) } }
extension Right { struct TupleLabels { var place: (row: Int, column: Int) } }

extension Left { struct TupleLabel { var place: (Int, y: Int) } }
extension Right { struct TupleLabel { var place: (Int, Int) } }

extension Left { struct TupleLabelOrder { var place: (x: Int, y: Int) } }
extension Right { struct TupleLabelOrder { var place: (y: Int, x: Int) } }

extension Left { struct TupleOrder { var place: (Int, String) } }
extension Right { struct TupleOrder { var place: (String, Int) } }

extension Left { struct TupleType { var place: (Int, Int) } }
extension Right { struct TupleType { var place: (Int, UInt) } }

extension Left { struct TupleCount { var place: (Int, Int) } }
extension Right { struct TupleCount { var place: (Int, Int, Empty) } }

extension Left { struct TupleNesting { var place: ((Int, Int), Int) } }
extension Right { struct TupleNesting { var place: (Int, (Int, Int)) } }

extension Left { struct TupleBook { var place: (Int, [Book]) } }
extension Right { struct TupleBook { var place: (Int, [Book]) } }

extension Left { struct TupleOrStruct { var place: (limit: Int, Empty) } }
extension Right { struct TupleOrStruct { var place: Limit } }

/// Generic types that differ in one thing, some of them in an argument that no field mentions.
let genericPairs = [
    Pair("an argument", Box<Int>.self, Box<UInt>.self),
    Pair("an argument that no field mentions", Phantom<Int>.self, Phantom<String>.self),
    Pair("in an argument that no field mentions", Phantom<Left.Book>.self, Phantom<Right.Book>.self),
    Pair("in the element of an argument that no field mentions", Phantom<[Left.Book]>.self, Phantom<[Right.Book]>.self),
    Pair("in an argument", Box<Left.Book>.self, Box<Right.Book>.self),
    Pair("an argument's argument", Box<Box<Int>>.self, Box<Box<UInt>>.self),
    Pair("in an argument's argument's argument", Box<Box<[Left.Book]>>.self, Box<Box<[Right.Book]>>.self),
    Pair("the arguments in another order", Two<Int, UInt>.self, Two<UInt, Int>.self),
    Pair("the argument of the type around it", Outer<Int>.Inner.self, Outer<String>.Inner.self),
    Pair("in the argument of the type around it", Outer<Left.Book>.Inner.self, Outer<Right.Book>.Inner.self),
    Pair("arguments exchanged with the type around it", Outer<Int>.Generic<UInt>.self, Outer<UInt>.Generic<Int>.self),
    Pair("the argument of a class around it", Space<Int>.Inner.self, Space<String>.Inner.self),
    Pair("the argument of a type around that is extended for some", Outer<Int>.Keyed.self, Outer<String>.Keyed.self),
    Pair("whose parameter it is", Left.Wide<Int>.Narrow.self, Right.Wide.Narrow<Int>.self),
    Pair("in a generic type's own field", Left.Holder<Int>.self, Right.Holder<Int>.self),
    Pair("in a generic enum's payload", Left.Answer<Int>.self, Right.Answer<Int>.self),
    Pair("which parameter a field is of", Left.Choice<Int, UInt>.self, Right.Choice<Int, UInt>.self),
    Pair("an argument of a raw type's own", Phantom<Left.RawType>.self, Phantom<Right.RawType>.self),
]

struct Box<Value: Sendable>: Sendable { var value: Value }
struct Phantom<Value: Sendable>: Sendable { var id: Int }
struct Two<A: Sendable, B: Sendable>: Sendable { var id: Int }
struct Outer<Value: Sendable>: Sendable {
    struct Inner: Sendable { var id: Int }
    struct Generic<Other: Sendable>: Sendable { var id: Int }
}
extension Outer where Value: Hashable { struct Keyed: Sendable { var id: Int } }
extension Outer where Value == Bool { struct Fixed: Sendable { var id: Int } }
class Space<Value> { struct Inner: Sendable { var id: Int } }

extension Left { struct Wide<A: Sendable>: Sendable { struct Narrow: Sendable { var id: Int } } }
extension Right { struct Wide: Sendable { struct Narrow<A: Sendable>: Sendable { var id: Int } } }

extension Left { struct Holder<A: Sendable>: Sendable { var value: A, mark: Int8 } }
extension Right { struct Holder<A: Sendable>: Sendable { var value: A, mark: UInt8 } }

extension Left { enum Answer<A: Sendable>: Sendable { case one(A), many([A]) } }
extension Right { enum Answer<A: Sendable>: Sendable { case one(A), many(Set<Int>) } }

extension Left { struct Choice<A: Sendable, B: Sendable>: Sendable { var value: A } }
extension Right { struct Choice<A: Sendable, B: Sendable>: Sendable { var value: B } }

/// Types that contain themselves, and differ in one thing.
let recursivePairs = [
    Pair("beside a type's array of itself", Left.Folder.self, Right.Folder.self),
    Pair("in the second of two types that contain each other", Left.Question.self, Right.Question.self),
    Pair("which of two types is met again", Left.RepeatedType.self, Right.RepeatedType.self),
    Pair("in an indirect enum", Left.Formula.self, Right.Formula.self),
    Pair("itself and its equal", Left.Chain.self, Right.Chain.self),
]

extension Left { struct Folder: Sendable { var name: String, folders: [Folder] } }
extension Right { struct Folder: Sendable { var name: Substring, folders: [Folder] } }

extension Left {
    struct Question: Sendable { var replies: [Reply] }
    struct Reply: Sendable { var text: String, back: [Question] }
}
extension Right {
    struct Question: Sendable { var replies: [Reply] }
    struct Reply: Sendable { var text: String, back: [Reply] }
}

extension Left { struct RepeatedType { var first: Limit, second: OtherLimit, again: Limit } }
extension Right { struct RepeatedType { var first: Limit, second: OtherLimit, again: OtherLimit } }

extension Left { indirect enum Formula: Sendable { case number(Int), sum(Formula, Formula) } }
extension Right { indirect enum Formula: Sendable { case number(Int8), sum(Formula, Formula) } }

extension Left { struct Chain: Sendable { var next: [Chain] } }
extension Right { struct Chain: Sendable { var next: [Link] } }
struct Link: Sendable { var next: [Link] }

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

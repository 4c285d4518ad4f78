import Foundation

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

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

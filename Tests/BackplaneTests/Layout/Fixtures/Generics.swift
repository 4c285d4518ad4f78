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

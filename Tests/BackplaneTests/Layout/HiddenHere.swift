/// Types that are private to this file, or local to a function. `HiddenThere.swift` has a `Secret` and a `Same` of its
/// own.
let hiddenPairs = [
    Pair("in a private type", Left.PrivateField.self, Right.PrivateField.self),
    Pair("a private type and one that is not", Left.OneSidedField.self, Right.OneSidedField.self),
    Pair("in a local type", Left.local, Right.local),
    Pair("one private type twice, and two of one name", two(sameHere, sameHere), two(sameHere, sameThere)),
]

func two<A: Sendable, B: Sendable>(_: A.Type, _: B.Type) -> any Sendable.Type { Two<A, B>.self }

extension Left { struct PrivateField { private var secret: Secret } }
private struct Secret { var code: Int }

extension Left {
    struct OneSidedField { private var lock: Lock }
    private struct Lock { var code: Int }
}
extension Right {
    struct OneSidedField { private var lock: Lock }
    struct Lock { var code: Int }
}

private struct Same { var code: Int }
let sameHere: any Sendable.Type = Same.self

extension Left {
    static var local: any Sendable.Type {
        struct Local { var limit: Int }
        return Local.self
    }
}
extension Right {
    static var local: any Sendable.Type {
        struct Local { var limit: UInt }
        return Local.self
    }
}

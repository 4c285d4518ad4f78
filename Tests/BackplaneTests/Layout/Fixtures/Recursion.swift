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

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

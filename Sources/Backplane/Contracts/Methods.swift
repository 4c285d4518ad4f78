/// A method that may wait: `let search = AsyncMethod<BookQuery, [Book]>()`.
///
/// The members of a contract are stored properties of one shape, so that a member's offset in its contract gives its number.
public struct AsyncMethod<Input: Sendable, Output: Sendable>: Sendable {
    // What `Input` and `Output` must be is asked where it is used: of a type that asks it itself Swift's runtime, each time a library is
    // loaded, would look through all that is loaded before it makes one.
    private let member: DeclaredMember
}

extension AsyncMethod where Input: Codable, Output: Codable {
    /// - Parameter name: what it is called by on the other side; default: the property's name.
    public init(_ name: String? = nil) { member = DeclaredMember(name: name, type: Self.self) }
}

/// A method that never waits: `let count = SyncMethod<Nothing, Int>()`.
public struct SyncMethod<Input: Sendable, Output: Sendable>: Sendable {
    private let member: DeclaredMember
}

extension SyncMethod where Input: Codable, Output: Codable {
    /// - Parameter name: what it is called by on the other side; default: the property's name.
    public init(_ name: String? = nil) { member = DeclaredMember(name: name, type: Self.self) }
}

/// A member's number in its contract: its place among the stored properties. Folds to a constant in optimised code.
@inlinable @inline(__always)
func memberNumber<C: Contract, Method>(of member: KeyPath<C, Method>) -> Int {
    guard let offset = MemoryLayout<C>.offset(of: member) else {
        preconditionFailure("the members of a contract are stored properties, and this one is computed")
    }
    return offset / MemoryLayout<Method>.stride
}

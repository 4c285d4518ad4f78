/// A method that may suspend: `let search = AsyncMethod<BookQuery, [Book]>()`.
///
/// The members of a contract are stored properties of one size, so that a member's offset determines its number.
public struct AsyncMethod<Input: Sendable, Output: Sendable>: Sendable {
    // `Codable` is required of `Input` and `Output` where they are used. If this type required it, Swift's runtime
    // would search every loaded image before it created one, each time a library is loaded.
    private let member: DeclaredMember
}

extension AsyncMethod where Input: Codable, Output: Codable {
    /// Declares the method.
    ///
    /// - Parameter name: The name used across the boundary. Default: the property's name.
    public init(_ name: String? = nil) { member = DeclaredMember(name: name, type: Self.self) }
}

/// A method that never suspends: `let count = SyncMethod<Nothing, Int>()`.
public struct SyncMethod<Input: Sendable, Output: Sendable>: Sendable {
    private let member: DeclaredMember
}

extension SyncMethod where Input: Codable, Output: Codable {
    /// Declares the method.
    ///
    /// - Parameter name: The name used across the boundary. Default: the property's name.
    public init(_ name: String? = nil) { member = DeclaredMember(name: name, type: Self.self) }
}

/// A method that produces a sequence over time: `let changes = StreamMethod<BookQuery, Book>()`.
///
/// Its consumer requests one element after another, and its provider waits for each request.
public struct StreamMethod<Input: Sendable, Element: Sendable>: Sendable {
    private let member: DeclaredMember
}

extension StreamMethod where Input: Codable, Element: Codable {
    /// Declares the method.
    ///
    /// - Parameter name: The name used across the boundary. Default: the property's name.
    public init(_ name: String? = nil) { member = DeclaredMember(name: name, type: Self.self) }
}

/// Returns a member's number in its contract: its position among the stored properties.
///
/// In optimised code, this is a constant.
@inlinable @inline(__always)
func memberNumber<C: Contract, Method>(of member: KeyPath<C, Method>) -> Int {
    guard let offset = MemoryLayout<C>.offset(of: member) else {
        preconditionFailure("the members of a contract must be stored properties, but this one is computed")
    }
    return offset / MemoryLayout<Method>.stride
}

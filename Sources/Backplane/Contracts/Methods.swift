/// A member of a contract: an ``AsyncMethod`` or a ``SyncMethod``. Not for adoption elsewhere.
///
/// Members are stored properties of one shape, so that a member's offset in its contract gives its number.
public protocol Callable: Sendable {
    associatedtype Input: Codable & Sendable
    associatedtype Output: Codable & Sendable
    /// What a ``Remote`` makes of the member.
    associatedtype Bound: Sendable
    /// What a ``Wire`` makes of the member.
    associatedtype Wired: Sendable
    /// The name it crosses under, where that is not the property's.
    var name: String? { get }
    static func bound(to slot: Slot, member: Int) -> Bound
    static func wired(to slot: Slot, member: Int) -> Wired
}

/// A method that may wait: `let search = AsyncMethod<BookQuery, [Book]>()`.
public struct AsyncMethod<Input: Sendable, Output: Sendable>: Sendable {
    // What `Input` and `Output` must be is asked where it is used: of a type that asks it itself Swift's runtime, each time a library is
    // loaded, would look through all that is loaded before it makes one.
    private let member: DeclaredMember
}

extension AsyncMethod: Callable where Input: Codable, Output: Codable {
    public var name: String? { member.name }

    /// - Parameter name: what it is called by on the other side; default: the property's name.
    public init(_ name: String? = nil) { member = DeclaredMember(name: name, type: Self.self) }

    @inlinable @inline(__always)
    public static func bound(to slot: Slot, member: Int) -> BoundAsync<Input, Output> { BoundAsync(slot: slot, member: member) }
    @inlinable @inline(__always)
    public static func wired(to slot: Slot, member: Int) -> WiredAsync<Input, Output> { WiredAsync(slot: slot, member: member) }
}

/// A method that never waits: `let count = SyncMethod<Nothing, Int>()`.
public struct SyncMethod<Input: Sendable, Output: Sendable>: Sendable {
    private let member: DeclaredMember
}

extension SyncMethod: Callable where Input: Codable, Output: Codable {
    public var name: String? { member.name }

    /// - Parameter name: what it is called by on the other side; default: the property's name.
    public init(_ name: String? = nil) { member = DeclaredMember(name: name, type: Self.self) }

    @inlinable @inline(__always)
    public static func bound(to slot: Slot, member: Int) -> BoundSync<Input, Output> { BoundSync(slot: slot, member: member) }
    @inlinable @inline(__always)
    public static func wired(to slot: Slot, member: Int) -> WiredSync<Input, Output> { WiredSync(slot: slot, member: member) }
}

/// A member's number in its contract: its place among the stored properties. Folds to a constant in optimised code.
@inlinable @inline(__always)
func memberNumber<C: Contract, M: Callable>(of member: KeyPath<C, M>) -> Int {
    guard let offset = MemoryLayout<C>.offset(of: member) else {
        preconditionFailure("the members of a contract are stored properties, and this one is computed")
    }
    return offset / MemoryLayout<M>.stride
}

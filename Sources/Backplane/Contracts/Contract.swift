/// The methods that one component offers to others: a struct that consumer and provider both compile.
///
/// ```swift
/// public struct Library: Contract {
///     public static let version: Version = "1.2.0"
///     public let search = AsyncMethod<BookQuery, [Book]>()
///     public let count = SyncMethod<Nothing, Int>()
///     public let changes = StreamMethod<BookQuery, Book>()
///     public init() {}
/// }
/// ```
///
/// Every stored property is an ``AsyncMethod``, a ``SyncMethod`` or a ``StreamMethod``. A property of any other type is
/// reported when the plugin is loaded or the manager is looked up.
public protocol Contract: Sendable {
    /// The name on which consumer and provider must agree. Default: the type's name.
    static var name: String { get }
    /// The version that consumers require: a provider has the same major version and at least this one.
    static var version: Version { get }
    /// The error that providers throw and callers catch as a value of its type, a ``ContractError``. Default: none.
    associatedtype Failure: ContractFailure = Never
    /// Creates the contract, from which the SDK reads its members.
    init()
}

extension Contract {
    /// The type's name.
    public static var name: String { typeName(of: Self.self) }
}

/// The contract of a component that offers no methods.
@dynamicMemberLookup
public struct NoContract: Contract {
    /// The version of a contract without methods: 0.0.0.
    public static let version: Version = "0.0.0"
    /// Creates the empty contract.
    public init() {}

    /// A member for any name, so that the compiler shows the message of `table.async` or `table.sync`.
    @_documentation(visibility: internal)
    public subscript(dynamicMember name: String) -> UndeclaredMember { UndeclaredMember() }
}

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

/// The input or output of a method that has none: JSON `null`.
public struct Nothing: Sendable, Equatable {
    /// Creates the only value.
    public init() {}
}

extension Nothing: Codable {
    /// Decodes `null`.
    ///
    /// - Throws: `DecodingError.typeMismatch` for any other value.
    public init(from decoder: any Decoder) throws {
        guard try decoder.singleValueContainer().decodeNil() else {
            throw DecodingError.typeMismatch(
                Nothing.self,
                .init(codingPath: decoder.codingPath, debugDescription: "expected null, the only value of `Nothing`"))
        }
    }

    /// Encodes `null`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encodeNil()
    }
}

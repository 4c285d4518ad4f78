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

    /// A method that no contract declares, so that the compiler's message is that of `table.async` or `table.sync`.
    @_documentation(visibility: internal)
    public subscript(dynamicMember name: String) -> UndeclaredMember { UndeclaredMember() }
}

/// What one component may ask of another: a struct of members that both sides compile in.
///
/// ```swift
/// public struct Library: Contract {
///     public static let version: Version = "1.2.0"
///     public let search = AsyncMethod<BookQuery, [Book]>()
///     public let count = SyncMethod<Nothing, Int>()
///     public init() {}
/// }
/// ```
///
/// Every stored property is an ``AsyncMethod`` or a ``SyncMethod``; anything else is reported when the plugin is loaded, or the manager looked up.
public protocol Contract: Sendable {
    /// What consumer and provider must agree on. Default: the type's name.
    static var name: String { get }
    /// Served by the same major version, at least this high.
    static var version: Version { get }
    init()
}

extension Contract {
    public static var name: String { typeName(of: Self.self) }
}

/// The contract of a component that nobody calls.
public struct NoContract: Contract {
    public static let version: Version = "0.0.0"
    public init() {}
}

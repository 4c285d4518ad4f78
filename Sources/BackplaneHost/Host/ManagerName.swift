public import Backplane

/// A manager's name in the manifest, together with the contract through which it is called.
///
/// ```swift
/// extension ManagerName where C == Library {
///     static var library: Self { "LibraryManager" }
/// }
/// let library = try await host.manager(.library)              // Remote<Library>
/// ```
public struct ManagerName<C: Contract>: Hashable, Sendable {
    /// The name as the manifest spells it.
    public let name: String

    /// Creates a name for the contract `C`.
    public init(_ name: String) { self.name = name }
}

extension ManagerName: ExpressibleByStringLiteral {
    /// Creates the name of a manager for the contract `C` from a string literal.
    public init(stringLiteral name: String) { self.init(name) }
}

extension ManagerName: CustomStringConvertible {
    /// The name as the manifest spells it.
    public var description: String { name }
}

extension PluginHost {
    /// Returns a manager by a name that implies its contract, starting it if necessary.
    ///
    /// - Throws: The errors of ``manager(_:as:)``.
    public func manager<C: Contract>(_ name: ManagerName<C>) async throws(BackplaneError) -> Remote<C> {
        try await manager(name.name, as: C.self)
    }
}

public import Backplane

/// A manager's name in the manifest together with the contract that it is called by.
///
/// ```swift
/// extension ManagerName where C == Library {
///     static var library: Self { "LibraryManager" }
/// }
/// let library = try await host.manager(.library)              // Remote<Library>
/// ```
public struct ManagerName<C: Contract>: Hashable, Sendable {
    /// As the manifest spells it.
    public let name: String

    public init(_ name: String) { self.name = name }
}

extension ManagerName: ExpressibleByStringLiteral {
    public init(stringLiteral name: String) { self.init(name) }
}

extension ManagerName: CustomStringConvertible {
    public var description: String { name }
}

extension PluginHost {
    /// A manager by a name that knows its contract, started if it was not.
    ///
    /// - Throws: as ``manager(_:as:)``.
    public func manager<C: Contract>(_ name: ManagerName<C>) async throws(BackplaneError) -> Remote<C> {
        try await manager(name.name, as: C.self)
    }
}

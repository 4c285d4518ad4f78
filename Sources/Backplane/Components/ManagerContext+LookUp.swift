/// A manager that serves a contract, as passed to the condition of ``ManagerContext/resolve(_:where:for:)``.
public struct ManagerDescription: Sendable, Equatable {
    /// The manager's name in the manifest.
    public var name: String
    /// The name of the manager's class.
    public var className: String
    /// The version of the manager's class.
    public var version: Version
    /// The id of the plugin that provides the manager.
    public var plugin: String

    package init(name: String, className: String, version: Version, plugin: String) {
        (self.name, self.className, self.version, self.plugin) = (name, className, version, plugin)
    }
}

extension ManagerContext {
    /// Returns a wire to a manager that is not one of the component's own wires.
    ///
    /// The manager is started if necessary. Looking it up again returns the same wire. The function can be called in an
    /// initialiser: managers that look each other up while they start do not deadlock, because one of them receives
    /// `manager.cycle`.
    ///
    /// - Parameters:
    ///   - name: The manager's name in the manifest.
    ///   - type: The contract that the manager serves.
    ///   - call: The call for which the manager is looked up, if any.
    /// - Throws: `manager.unknown`; `wire.mismatch` if the manager provides another contract; `manager.cycle`; the
    ///   error with which the manager failed to start.
    public func manager<C: Contract>(_ name: String, as type: C.Type = C.self, for call: Call? = nil)
        async throws(BackplaneError) -> Wire<C>
    {
        try await services.find(name, C.self, call)
    }

    /// Returns a wire to the first matching manager that serves a contract, ordered by plugin and then by name.
    ///
    /// - Parameters:
    ///   - type: The contract that the manager serves.
    ///   - isWanted: The condition that a manager must meet.
    ///   - call: The call for which the manager is looked up, if any.
    /// - Throws: `manager.unknown` if there is none, and the errors of ``manager(_:as:for:)``.
    public func resolve<C: Contract>(
        _ type: C.Type = C.self, where isWanted: (ManagerDescription) -> Bool = { _ in true }, for call: Call? = nil
    ) async throws(BackplaneError) -> Wire<C> {
        let providers = try await services.providers(of: C.self)
        if let provider = providers.first(where: isWanted) {
            return try await manager(provider.name, as: C.self, for: call)
        }
        let names = providers.map { "`\($0.name)`" }.joined(separator: ", ")
        throw BackplaneError(
            .unknownManager,
            "no manager was found that provides \(C.name) \(C.version)"
                + (names.isEmpty ? "" : "; \(names) did not match the predicate"))
    }
}

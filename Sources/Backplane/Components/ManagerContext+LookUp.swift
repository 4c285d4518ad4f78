/// A manager that serves a contract, as ``ManagerContext/resolve(_:where:for:)`` finds it.
public struct ManagerDescription: Sendable, Equatable {
    /// In the manifest.
    public var name: String
    public var className: String
    /// Of the class.
    public var version: Version
    /// The id of the plugin that brings it.
    public var plugin: String

    package init(name: String, className: String, version: Version, plugin: String) {
        (self.name, self.className, self.version, self.plugin) = (name, className, version, plugin)
    }
}

extension ManagerContext {
    /// A manager that the component's wires do not name, started if it was not; what is asked for again is the same wire.
    ///
    /// Also in an initialiser. Managers that look each other up while they start do not wait for one another for ever: one of
    /// them is told.
    ///
    /// - Parameter call: the one that this is done for, if there is one.
    /// - Throws: `manager.unknown`; `wire.mismatch` when it provides another contract; `manager.cycle`; why it did not start.
    public func manager<C: Contract>(_ name: String, as _: C.Type = C.self, for call: Call? = nil) async throws(BackplaneError) -> Wire<C> {
        try await services.find(name, C.self, call)
    }

    /// The first manager that serves a contract and is wanted, in the order of the plugins and then of the names.
    ///
    /// - Throws: `manager.unknown` when there is none, and as ``manager(_:as:for:)`` does.
    public func resolve<C: Contract>(
        _: C.Type = C.self, where isWanted: (ManagerDescription) -> Bool = { _ in true }, for call: Call? = nil
    ) async throws(BackplaneError) -> Wire<C> {
        let providers = try await services.providers(of: C.self)
        if let provider = providers.first(where: isWanted) { return try await manager(provider.name, as: C.self, for: call) }
        let names = providers.map { "`\($0.name)`" }.joined(separator: ", ")
        throw BackplaneError(
            .unknownManager,
            "no manager was found that serves \(C.name) \(C.version)" + (names.isEmpty ? "" : "; there is \(names), and none was wanted"))
    }
}

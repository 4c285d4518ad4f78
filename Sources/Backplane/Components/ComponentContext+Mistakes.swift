// Members that no program can use: their messages say which role has what is asked for. BackplaneNetwork and
// BackplaneStorage have those of their own names. docs/compiler-messages.md has the list.

extension ManagerContext {
    /// Refuses a folder, which a manager does not have.
    @available(
        *, unavailable,
        message: "a manager has no folder: call its data access controller through a wire"
    )
    @_documentation(visibility: internal)
    public var folder: String { "" }
}

extension DataAccessContext {
    /// Refuses wires, which a data access controller does not have.
    @available(
        *, unavailable,
        message: "a data access controller cannot call components: its manager calls them, and passes on their results"
    )
    @_documentation(visibility: internal)
    public var wires: UndeclaredMember { UndeclaredMember() }
}

extension NetworkServiceContext {
    /// Refuses wires, which a network service does not have.
    @available(
        *, unavailable,
        message: "a network service cannot call components: its communication controller calls them"
    )
    @_documentation(visibility: internal)
    public var wires: UndeclaredMember { UndeclaredMember() }
}

// The roles with a folder are all but managers.
extension HasFolder {
    /// Refuses the lookup of a manager.
    @available(
        *, unavailable,
        message: "only a manager can look up managers: let the manager that owns this component call the other one"
    )
    @_documentation(visibility: internal)
    public func manager<C: Contract>(_ name: String, as type: C.Type = C.self, for call: Call? = nil)
        async throws(BackplaneError) -> Wire<C>
    {
        throw BackplaneError(.roleForbidden, "only a manager can look up managers")
    }

    /// Refuses the lookup of a manager.
    @available(
        *, unavailable,
        message: "only a manager can look up managers: let the manager that owns this component call the other one"
    )
    @_documentation(visibility: internal)
    public func resolve<C: Contract>(
        _ type: C.Type = C.self, where isWanted: (ManagerDescription) -> Bool = { _ in true }, for call: Call? = nil
    ) async throws(BackplaneError) -> Wire<C> {
        throw BackplaneError(.roleForbidden, "only a manager can look up managers")
    }
}

/// What a plugin says of one component class, before there is an instance: enough to check a manifest against.
///
/// Its like are compared by the host alone, which says how (`BackplaneBoundary`): a plugin carries no conformances for that.
package struct ComponentDescription: Sendable {
    package var role: Role
    package var className: String
    package var version: Version
    /// What it provides; `nil`: nothing that can be called.
    package var contract: ContractDescription?
    package var wires: [WireDescription]
    /// Takes ports, files or timers when it is activated, so that two of it cannot be active at once.
    package var isExclusive: Bool
    /// Is made anew when something that it calls by a wire is swapped.
    package var restartsOnSwap: Bool
    /// What of it outlives a swap; `nil`: nothing.
    package var state: StateDescription?

    package init(
        role: Role, className: String, version: Version, contract: ContractDescription? = nil, wires: [WireDescription] = [],
        isExclusive: Bool = false, restartsOnSwap: Bool = false, state: StateDescription? = nil
    ) {
        (self.role, self.className, self.version, self.contract, self.wires) = (role, className, version, contract, wires)
        (self.isExclusive, self.restartsOnSwap, self.state) = (isExclusive, restartsOnSwap, state)
    }
}

/// What a component's state is called, and in which versions it is read and written.
package struct StateDescription: Sendable {
    package var schema: String
    /// What is written unless another is asked for.
    package var version: UInt32
    /// The versions that are read.
    package var accepts: ClosedRange<UInt32>
    /// The versions that can be written, the newest by itself.
    package var writes: ClosedRange<UInt32>

    package init(schema: String, version: UInt32, accepts: ClosedRange<UInt32>, writes: ClosedRange<UInt32>) {
        (self.schema, self.version, self.accepts, self.writes) = (schema, version, accepts, writes)
    }
}

/// A contract's name, version and methods, in the order they are numbered.
package struct ContractDescription: Sendable {
    package var name: String
    package var version: Version
    package var methods: [MethodDescription]

    package init(name: String, version: Version, methods: [MethodDescription] = []) {
        (self.name, self.version, self.methods) = (name, version, methods)
    }
}

/// A method's name, and whether it never waits.
package struct MethodDescription: Sendable {
    package var name: String
    package var isSynchronous: Bool

    package init(name: String, isSynchronous: Bool) {
        (self.name, self.isSynchronous) = (name, isSynchronous)
    }
}

/// A collaborator that a component asks for.
package struct WireDescription: Sendable {
    package var label: String
    package var isOptional: Bool
    package var contract: ContractDescription

    package init(label: String, isOptional: Bool = false, contract: ContractDescription) {
        (self.label, self.isOptional, self.contract) = (label, isOptional, contract)
    }
}

/// The labels of wires that the manifest spells as keys of their own.
package enum ReservedLabel {
    package static let dataAccessController = "dataAccessController"
    package static let communicationController = "communicationController"
}

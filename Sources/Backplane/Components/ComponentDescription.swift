/// The description of a component class, which is sufficient to check a manifest without an instance.
///
/// Only the host compares descriptions, and it defines how (`ComponentClass.swift`), so that plugins need no
/// conformances.
package struct ComponentDescription: Sendable {
    package var role: Role
    package var className: String
    package var version: Version
    /// The contract that the component provides; `nil` if it has no methods to call.
    package var contract: ContractDescription?
    package var wires: [WireDescription]
    /// A Boolean value that indicates whether activation acquires resources that two instances cannot share.
    ///
    /// Examples are ports and files.
    package var isExclusive: Bool
    /// A Boolean value that indicates whether the component is recreated when one of its collaborators is swapped.
    package var restartsOnSwap: Bool
    /// The state that a swap carries over; `nil` for a component without state.
    package var state: StateDescription?

    package init(
        role: Role, className: String, version: Version, contract: ContractDescription? = nil,
        wires: [WireDescription] = [],
        isExclusive: Bool = false, restartsOnSwap: Bool = false, state: StateDescription? = nil
    ) {
        (self.role, self.className, self.version, self.contract, self.wires) = (
            role, className, version, contract, wires
        )
        (self.isExclusive, self.restartsOnSwap, self.state) = (isExclusive, restartsOnSwap, state)
    }
}

/// The name of a component's state, and the versions in which it is read and written.
package struct StateDescription: Sendable {
    package var schema: String
    /// The version that is written unless another is requested.
    package var version: UInt32
    /// The versions that can be read.
    package var accepts: ClosedRange<UInt32>
    /// The versions that can be written; the newest is the default.
    package var writes: ClosedRange<UInt32>

    package init(schema: String, version: UInt32, accepts: ClosedRange<UInt32>, writes: ClosedRange<UInt32>) {
        (self.schema, self.version, self.accepts, self.writes) = (schema, version, accepts, writes)
    }
}

/// A contract's name, its version and its methods in the order of their numbers.
package struct ContractDescription: Sendable {
    package var name: String
    package var version: Version
    package var methods: [MethodDescription]

    package init(name: String, version: Version, methods: [MethodDescription] = []) {
        (self.name, self.version, self.methods) = (name, version, methods)
    }
}

/// A method's name and kind.
package struct MethodDescription: Sendable {
    package var name: String
    package var kind: MethodKind

    package init(name: String, kind: MethodKind) {
        (self.name, self.kind) = (name, kind)
    }

    package init(name: String, isSynchronous: Bool) {
        self.init(name: name, kind: isSynchronous ? .sync : .async)
    }

    package var isSynchronous: Bool { kind.rawValue == MethodKind.sync.rawValue }
    package var isStream: Bool { kind.rawValue == MethodKind.stream.rawValue }
}

/// A collaborator that a component requires.
package struct WireDescription: Sendable {
    package var label: String
    package var isOptional: Bool
    package var contract: ContractDescription

    package init(label: String, isOptional: Bool = false, contract: ContractDescription) {
        (self.label, self.isOptional, self.contract) = (label, isOptional, contract)
    }
}

/// The labels of wires that have keys of their own in a manifest.
package enum ReservedLabel {
    package static let dataAccessController = "dataAccessController"
    package static let communicationController = "communicationController"
}

/// What a plugin says of one component class, before there is an instance: enough to check a manifest against.
package struct ComponentDescription: Sendable, Hashable {
    package var role: Role
    package var className: String
    package var version: Version
    /// What it provides; `nil`: nothing that can be called.
    package var contract: ContractDescription?
    package var wires: [WireDescription]

    package init(role: Role, className: String, version: Version, contract: ContractDescription? = nil, wires: [WireDescription] = []) {
        (self.role, self.className, self.version, self.contract, self.wires) = (role, className, version, contract, wires)
    }
}

/// A contract's name, version and methods, in the order they are numbered.
package struct ContractDescription: Sendable, Hashable {
    package var name: String
    package var version: Version
    package var methods: [MethodDescription]

    package init(name: String, version: Version, methods: [MethodDescription] = []) {
        (self.name, self.version, self.methods) = (name, version, methods)
    }
}

/// A method's name and kind.
package struct MethodDescription: Sendable, Hashable {
    package enum Kind: UInt32, Sendable { case async = 0, sync = 1 }
    package var name: String
    package var kind: Kind

    package init(name: String, kind: Kind) {
        (self.name, self.kind) = (name, kind)
    }
}

/// A collaborator that a component asks for.
package struct WireDescription: Sendable, Hashable {
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

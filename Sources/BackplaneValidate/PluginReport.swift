import Backplane

/// What a plugin answered at its entry, as the child hands it to its parent and `--json` prints it.
struct PluginReport: Codable, Sendable, Hashable {
    var id, version: String
    /// The ABI number that it chose.
    var abi: UInt32
    var toolchain: String
    var components: [Component]

    struct Component: Codable, Sendable, Hashable {
        var className, version, role: String
        var contract: Contract?
        var wires: [Wire]
    }
    struct Contract: Codable, Sendable, Hashable {
        var name, version: String
        /// All of them; of a wire those that are called.
        var methods: [Method]
    }
    struct Method: Codable, Sendable, Hashable {
        var name, kind: String
    }
    struct Wire: Codable, Sendable, Hashable {
        var label: String
        var isOptional: Bool
        var contract: Contract
    }
}

extension PluginReport {
    init(_ plugin: PluginDescription) {
        (id, version, abi, toolchain) = (plugin.id, plugin.version.description, plugin.abi, plugin.toolchain)
        components = plugin.components.map { component in
            let component = component.description
            return Component(
                className: component.className, version: component.version.description, role: component.role.description,
                contract: component.contract.map(Contract.init),
                wires: component.wires.map { Wire(label: $0.label, isOptional: $0.isOptional, contract: Contract($0.contract)) })
        }
    }
}

extension PluginReport.Contract {
    fileprivate init(_ contract: ContractDescription) {
        (name, version) = (contract.name, contract.version.description)
        methods = contract.methods.map { PluginReport.Method(name: $0.name, kind: "\($0.kind)") }
    }
}

import Backplane
package import BackplaneBoundary

/// The description of a plugin, as the child process reports it and `--json` prints it.
package struct PluginReport: Codable, Sendable, Hashable {
    package var id, version: String
    /// The ABI number that the plugin chose.
    package var abi: UInt32
    package var toolchain: String
    package var components: [Component]

    package struct Component: Codable, Sendable, Hashable {
        package var className, version, role: String
        package var contract: Contract?
        package var wires: [Wire]
    }
    package struct Contract: Codable, Sendable, Hashable {
        package var name, version: String
        /// All methods of a provided contract; of a wire's contract, only those that are called.
        package var methods: [Method]
    }
    package struct Method: Codable, Sendable, Hashable {
        package var name, kind: String
    }
    package struct Wire: Codable, Sendable, Hashable {
        package var label: String
        package var isOptional: Bool
        package var contract: Contract
    }
}

extension PluginReport {
    package init(_ plugin: PluginDescription) {
        (id, version, abi, toolchain) = (plugin.id, plugin.version.description, plugin.abi, plugin.toolchain)
        components = plugin.components.map { component in
            let component = component.description
            return Component(
                className: component.className, version: component.version.description,
                role: component.role.description,
                contract: component.contract.map(Contract.init),
                wires: component.wires.map {
                    Wire(label: $0.label, isOptional: $0.isOptional, contract: Contract($0.contract))
                })
        }
    }
}

extension PluginReport.Contract {
    fileprivate init(_ contract: ContractDescription) {
        (name, version) = (contract.name, contract.version.description)
        methods = contract.methods.map { PluginReport.Method(name: $0.name, kind: $0.kind.word ?? "unknown") }
    }
}

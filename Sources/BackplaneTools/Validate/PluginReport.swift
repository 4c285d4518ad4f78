import Backplane
package import BackplaneHost

/// The description of a plugin, in the form that the child process reports and `--json` prints.
package struct PluginReport: Codable, Sendable, Hashable {
    package var id, version: String
    /// The ABI number that the plugin chose.
    package var abi: UInt32
    package var toolchain: String
    package var components: [ReportedComponent]

    package struct ReportedComponent: Codable, Sendable, Hashable {
        package var className, version, role: String
        package var contract: ReportedContract?
        package var wires: [ReportedWire]
    }
    package struct ReportedContract: Codable, Sendable, Hashable {
        package var name, version: String
        /// All methods of a provided contract; only the called methods of a wire's contract.
        package var methods: [ReportedMethod]
    }
    package struct ReportedMethod: Codable, Sendable, Hashable {
        package var name, kind: String
    }
    package struct ReportedWire: Codable, Sendable, Hashable {
        package var label: String
        package var isOptional: Bool
        package var contract: ReportedContract
    }
}

extension PluginReport {
    package init(_ plugin: PluginDescription) {
        (id, version, abi, toolchain) = (plugin.id, plugin.version.description, plugin.abi, plugin.toolchain)
        components = plugin.components.map { component in
            let component = component.description
            return ReportedComponent(
                className: component.className, version: component.version.description,
                role: component.role.description,
                contract: component.contract.map(ReportedContract.init),
                wires: component.wires.map {
                    ReportedWire(label: $0.label, isOptional: $0.isOptional, contract: ReportedContract($0.contract))
                })
        }
    }
}

extension PluginReport.ReportedContract {
    fileprivate init(_ contract: ContractDescription) {
        (name, version) = (contract.name, contract.version.description)
        methods = contract.methods.map { PluginReport.ReportedMethod(name: $0.name, kind: $0.kind.word ?? "unknown") }
    }
}

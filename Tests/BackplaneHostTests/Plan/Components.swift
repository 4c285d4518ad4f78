import Backplane
import BackplaneDocuments

@testable import BackplaneHost

/// Contracts and catalogues for the tests of this folder, written short.
extension ContractDescription {
    static func of(_ name: String, _ version: Version = "1.0.0", async: [String] = [], sync: [String] = []) -> Self {
        Self(
            name: name, version: version,
            methods: async.map { MethodDescription(name: $0, kind: .async) }
                + sync.map { MethodDescription(name: $0, kind: .sync) })
    }
}

extension WireDescription {
    static func to(_ label: String, _ contract: ContractDescription, optional: Bool = false) -> Self {
        Self(label: label, isOptional: optional, contract: contract)
    }
}

extension ComponentDescription {
    static func manager(
        _ name: String, _ version: Version = "1.0.0", provides: ContractDescription? = nil,
        wires: [WireDescription] = []
    ) -> Self {
        Self(role: .manager, className: name, version: version, contract: provides, wires: wires)
    }

    static func dataAccess(_ name: String, _ version: Version = "1.0.0", provides: ContractDescription? = nil) -> Self {
        Self(role: .dataAccessController, className: name, version: version, contract: provides)
    }

    static func communication(
        _ name: String, _ version: Version = "1.0.0", provides: ContractDescription? = nil,
        wires: [WireDescription] = []
    ) -> Self {
        Self(role: .communicationController, className: name, version: version, contract: provides, wires: wires)
    }

    static func service(_ name: String, _ version: Version = "1.0.0", provides: ContractDescription? = nil) -> Self {
        Self(role: .networkService, className: name, version: version, contract: provides)
    }
}

extension Catalogue {
    /// Plugins `org.p0`, `org.p1`, … with these components.
    init(plugins: [ComponentDescription]...) {
        self.init(
            plugins.enumerated().flatMap { order, components in
                components.enumerated().map { index, component in
                    Entry(
                        plugin: "org.p\(order)", pluginVersion: "1.0.0", order: order, index: index,
                        component: component)
                }
            })
    }
}

extension Resolution {
    init(_ managers: ManifestValue, _ catalogue: Catalogue) {
        self.init(ManifestDocument(["manifestVersion": 1, "managers": managers]), catalogue: catalogue)
    }
}

extension Plan {
    /// The classes in the order of creation.
    var classNames: [String] { nodes.map(\.entry.component.className) }

    /// What every plan must keep, whatever it was made from.
    func checkInvariants() throws {
        struct Broken: Error { var node: Node }
        for (index, node) in nodes.enumerated() {
            // A store always has a namespace, a manager never; network roles have one if the manifest names it.
            let hasItsNamespace =
                switch node.role {
                case .manager: node.namespace == nil
                case .dataAccessController: node.namespace != nil
                case .communicationController, .networkService: true
                }
            let isSound =
                node.id == index && node.wires.allSatisfy { $0.provider < index } && !node.managers.isEmpty
                && hasItsNamespace
                && node.managers.allSatisfy { managers[$0] != nil && faults[$0] == nil && index <= managers[$0]! }
            guard isSound else { throw Broken(node: node) }
        }
    }
}

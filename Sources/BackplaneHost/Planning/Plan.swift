package import Backplane
package import FoundationEssentials

/// A plan of the components to create, in order, and of the managers that cannot be created, with the reasons.
package struct Plan: Sendable {
    /// A component to create; its id is its index in ``Plan/nodes``.
    package struct Node: Sendable, Hashable {
        package var id: Int
        package var entry: Catalogue.Entry
        /// The configuration as JSON, with the same bytes for the same configuration.
        package var configuration: Data
        package var wires: [Link]
        /// The location of the definition in the manifest, or of the first one if the node is shared.
        package var location: String
        /// The name of its private folder, if the manifest specifies one or it is a data access controller.
        package var namespace: String?
        /// The former name of a manager, or the former namespace of a data access controller, if it is continued.
        package var was: String?
        /// The first manager that uses it, by name, and its label there, for a component that uses the network.
        var place: Place?
        /// The managers in whose definitions it appears, in order; more than one if the node is shared.
        package var managers: [String]
        /// The origins of the values that an environment contributed.
        var origins = ManifestOrigins()

        /// A location in the manifest that names a component's folder.
        package struct Place: Sendable, Hashable, Comparable {
            var manager: String
            var label: String

            package static func < (a: Self, b: Self) -> Bool { (a.manager, a.label) < (b.manager, b.label) }
        }

        package var role: Role { entry.component.role }

        /// The name of a data access controller's folder and of its part of the store.
        var dataNamespace: String? { role == .dataAccessController ? namespace : nil }

        /// Returns the location of a value in its definition, given a pointer that is relative to the definition.
        func place(of pointer: String) -> String {
            origins.place(of: pointer) ?? location + pointer
        }
    }

    /// A wire of a node to a collaborator, which precedes the node in the plan.
    package struct Link: Sendable, Hashable {
        package var label: String
        /// The id of the providing node.
        package var provider: Int

        package init(label: String, provider: Int) {
            (self.label, self.provider) = (label, provider)
        }
    }

    /// The nodes in the order of creation: collaborators before their users.
    package let nodes: [Node]
    /// The ids of the nodes of managers without errors.
    package let managers: [String: Int]
    /// The reasons why the other managers cannot be created.
    package let faults: [String: BackplaneError]
    /// The errors of the manifest itself, which may explain why a manager is missing.
    let documentErrors: [BackplaneError]
    /// The namespaces of the data access controllers of all managers, including those with errors.
    let dataNamespaces: Set<String>
    /// The nodes of each manager except its own, in the order of creation.
    let layersByManager: [String: [Int]]

    init(
        nodes: [Node], managers: [String: Int], faults: [String: BackplaneError], documentErrors: [BackplaneError],
        dataNamespaces: Set<String>
    ) {
        (self.nodes, self.managers, self.faults, self.documentErrors) = (nodes, managers, faults, documentErrors)
        self.dataNamespaces = dataNamespaces
        var layers: [String: [Int]] = [:]
        for node in nodes where node.role != .manager {
            for manager in node.managers { layers[manager, default: []].append(node.id) }
        }
        layersByManager = layers
    }
}

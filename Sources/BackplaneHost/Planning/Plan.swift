package import Backplane
package import FoundationEssentials

/// What to create, in which order, and what not to create and why.
package struct Plan: Sendable {
    /// A component to create. Its number is its place in ``Plan/nodes``.
    package struct Node: Sendable, Hashable {
        package var id: Int
        package var entry: Catalogue.Entry
        /// JSON, the same bytes for the same configuration.
        package var configuration: Data
        package var wires: [Link]
        /// Where the manifest defines it; of a shared one, where first.
        package var location: String
        /// The name of its private folder, if it is a data access controller.
        package var namespace: String?
        /// The managers in whose definition it stands, in order: several if it is shared.
        package var managers: [String]
        /// Where those of its values are written that an environment brought.
        var origins = ManifestOrigins()

        package var role: Role { entry.component.role }

        /// Where a value in its definition is written, told by a pointer from there.
        func place(of pointer: String) -> String {
            origins.place(of: pointer) ?? location + pointer
        }
    }

    /// A wire of a node to one of its collaborators, which stands before it in the plan.
    package struct Link: Sendable, Hashable {
        package var label: String
        /// The id of the node that provides.
        package var provider: Int

        package init(label: String, provider: Int) {
            (self.label, self.provider) = (label, provider)
        }
    }

    /// In the order of creation: every collaborator before who uses it.
    package let nodes: [Node]
    /// The sound managers and the ids of their nodes.
    package let managers: [String: Int]
    /// The managers that cannot be created.
    package let faults: [String: BackplaneError]
    /// The errors of the manifest itself, which may be why a manager is not there.
    let documentErrors: [BackplaneError]
    /// The nodes of each manager but its own, in the order of creation.
    let layersByManager: [String: [Int]]

    init(nodes: [Node], managers: [String: Int], faults: [String: BackplaneError], documentErrors: [BackplaneError]) {
        (self.nodes, self.managers, self.faults, self.documentErrors) = (nodes, managers, faults, documentErrors)
        var layers: [String: [Int]] = [:]
        for node in nodes where node.role != .manager {
            for manager in node.managers { layers[manager, default: []].append(node.id) }
        }
        layersByManager = layers
    }
}

internal import Backplane
internal import BackplaneDocuments
internal import FoundationEssentials

extension Plan {
    /// Lays out the nodes of sound managers, given in an order in which each follows those it uses.
    struct Builder {
        private(set) var nodes: [Node] = []
        private(set) var managers: [String: Int] = [:]
        private var shared: [Resolution.Identity: Int] = [:]
        private let document: ManifestDocument

        init(_ document: ManifestDocument) { self.document = document }

        mutating func add(_ name: String, _ definition: ManagerDefinition, _ choice: Resolution.Choice, at path: ManifestPath) {
            guard let entry = choice.manager else { return }
            var wires: [Wire] = []
            if let identity = choice.dataAccessController {
                let id = share(identity, for: name, at: path / ReservedLabel.dataAccessController)
                wires.append(Wire(label: ReservedLabel.dataAccessController, provider: id))
            }
            if let controller = definition.communicationController, let entry = choice.communicationController {
                let path = path / ReservedLabel.communicationController
                let services = zip(controller.services, choice.services).enumerated().compactMap { index, pair in
                    pair.1.map { Wire(label: pair.0.propertyName, provider: share($0, for: name, at: path / "services" / index)) }
                }
                let id = append(entry, controller.configuration.json, services, for: name, at: path)
                wires.append(Wire(label: ReservedLabel.communicationController, provider: id))
            }
            wires += definition.uses.sorted { $0.key < $1.key }.compactMap { label, used in
                managers[used].map { Wire(label: label, provider: $0) }
            }
            let declared = Set(entry.component.wires.map(\.label))
            managers[name] = append(entry, definition.configuration.json, wires.filter { declared.contains($0.label) }, for: name, at: path)
        }

        /// The node of a component that everyone with the same definition has in common.
        private mutating func share(_ identity: Resolution.Identity, for manager: String, at path: ManifestPath) -> Int {
            if let id = shared[identity] {
                if !nodes[id].managers.contains(manager) { nodes[id].managers.append(manager) }
                return id
            }
            let id = append(identity.entry, identity.configuration, [], for: manager, at: path, namespace: identity.namespace)
            shared[identity] = id
            return id
        }

        private mutating func append(
            _ entry: Catalogue.Entry, _ configuration: Data, _ wires: [Wire], for manager: String, at path: ManifestPath, namespace: String? = nil
        ) -> Int {
            let node = Node(
                id: nodes.count, entry: entry, configuration: configuration, wires: wires, location: document.place(of: path),
                namespace: namespace, managers: [manager], origins: document.origins(below: path))
            nodes.append(node)
            return node.id
        }
    }
}

extension [String: ManifestValue] {
    var json: Data { ManifestValue.dictionary(self).json }
}

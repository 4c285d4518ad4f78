internal import Backplane
internal import BackplaneDocuments
internal import FoundationEssentials

extension Plan {
    /// A builder of the nodes of managers without errors, which must be added after the managers they use.
    struct Builder {
        private(set) var nodes: [Node] = []
        private(set) var managers: [String: Int] = [:]
        private var shared: [Resolution.Identity: Int] = [:]
        private let document: ManifestDocument

        init(_ document: ManifestDocument) { self.document = document }

        mutating func add(_ name: String, _ definition: ManagerDefinition, _ choices: [Resolution.Choice]) {
            guard let manager = choices.first, let entry = manager.entry else { return }
            var wires: [Link] = []
            for choice in choices where choice.definition.role == .dataAccessController {
                guard let id = share(choice, for: name) else { continue }
                wires.append(Link(label: ReservedLabel.dataAccessController, provider: id))
            }
            for choice in choices where choice.definition.role == .communicationController {
                guard let entry = choice.entry else { continue }
                var services: [Link] = []
                for service in choices where service.definition.role == .networkService {
                    guard let id = share(service, for: name), let label = service.definition.property else { continue }
                    services.append(Link(label: label, provider: id))
                }
                wires.append(
                    Link(
                        label: ReservedLabel.communicationController,
                        provider: append(entry, choice, services, for: name)))
            }
            wires += definition.uses.sorted { $0.key < $1.key }.compactMap { label, used in
                managers[used].map { Link(label: label, provider: $0) }
            }
            let declared = Set(entry.component.wires.map(\.label))
            managers[name] = append(entry, manager, wires.filter { declared.contains($0.label) }, for: name)
        }

        /// Returns the node of a component that all users with the same definition share.
        private mutating func share(_ choice: Resolution.Choice, for manager: String) -> Int? {
            guard let identity = choice.identity else { return nil }
            if let id = shared[identity] {
                if !nodes[id].managers.contains(manager) { nodes[id].managers.append(manager) }
                return id
            }
            let id = append(identity.entry, choice, [], for: manager)
            shared[identity] = id
            return id
        }

        private mutating func append(
            _ entry: Catalogue.Entry, _ choice: Resolution.Choice, _ wires: [Link], for manager: String
        ) -> Int {
            let definition = choice.definition
            let node = Node(
                id: nodes.count, entry: entry, configuration: choice.configuration, wires: wires,
                location: definition.location,
                namespace: definition.namespace, managers: [manager], origins: document.origins(below: definition.path))
            nodes.append(node)
            return node.id
        }
    }
}

extension [String: ManifestValue] {
    var json: Data { ManifestValue.dictionary(self).json }
}

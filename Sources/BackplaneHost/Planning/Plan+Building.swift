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
                guard let id = share(choice, for: name, as: nil) else { continue }
                wires.append(Link(label: ReservedLabel.dataAccessController, provider: id))
            }
            for choice in choices where choice.definition.role == .communicationController {
                guard let entry = choice.entry else { continue }
                var services: [Link] = []
                for service in choices where service.definition.role == .networkService {
                    guard let label = service.definition.property,
                        let id = share(service, for: name, as: Node.Place(manager: name, label: label))
                    else { continue }
                    services.append(Link(label: label, provider: id))
                }
                let label = ReservedLabel.communicationController
                let id = append(entry, choice, services, for: name)
                nodes[id].place = Node.Place(manager: name, label: label)
                wires.append(Link(label: label, provider: id))
            }
            wires += definition.uses.sorted { $0.key < $1.key }.compactMap { label, used in
                managers[used].map { Link(label: label, provider: $0) }
            }
            let declared = Set(entry.component.wires.map(\.label))
            managers[name] = append(entry, manager, wires.filter { declared.contains($0.label) }, for: name)
        }

        /// Returns the node of a component that is shared by all users with the same definition.
        ///
        /// - Parameter place: The location that may name its folder; `nil` for a data access controller.
        private mutating func share(_ choice: Resolution.Choice, for manager: String, as place: Node.Place?) -> Int? {
            guard let identity = choice.identity else { return nil }
            if let id = shared[identity] {
                nodes[id].place = [nodes[id].place, place].compactMap(\.self).min()
                if !nodes[id].managers.contains(manager) { nodes[id].managers.append(manager) }
                nodes[id].was = nodes[id].was ?? choice.definition.was
                return id
            }
            let id = append(identity.entry, choice, [], for: manager)
            nodes[id].place = place
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
                namespace: definition.namespace, was: definition.was, managers: [manager],
                origins: document.origins(below: definition.path))
            nodes.append(node)
            return node.id
        }
    }
}

extension [String: ManifestValue] {
    var json: Data { ManifestValue.dictionary(self).json }
}

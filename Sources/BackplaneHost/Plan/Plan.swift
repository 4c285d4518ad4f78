package import Backplane
import BackplaneDocuments
package import FoundationEssentials

/// A plan of the components to create, in order, and of the managers that cannot be created, with the reasons.
package struct Plan: Sendable {
    /// A component to create; its id is its index in ``Plan/nodes``.
    package struct Node: Sendable, Hashable {
        package var id: Int
        package var entry: Catalogue.Entry
        /// The configuration as JSON, with the same bytes for the same configuration.
        package var configuration: Data
        /// The key of the configuration in the manifest.
        var configurationKey = "configuration"
        package var wires: [Link]
        /// The location of the definition in the manifest, or of the first one if the node is shared.
        package var location: String
        /// The name of its private folder, if the manifest specifies one or it is a data access controller.
        package var namespace: String?
        /// The former name of a manager, or the former namespace of a data access controller, if it is continued.
        package var was: String?
        /// The addresses at which the manifest defines it; more than one if the node is shared.
        var addresses: [ComponentAddress]
        /// The managers in whose definitions it appears, in order; more than one if the node is shared.
        package var managers: [String]
        /// The origins of the values that an environment contributed.
        var origins = ManifestOrigins()

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
    /// The routes of the managers that can be created, sorted by manager.
    package let routes: [ManagerRoutes]
    /// The managers that have screens and can be created, by the identifiers of the screens.
    package let screens: [String: String]
    /// The nodes of each manager's collaborators, in the order of creation.
    let layersByManager: [String: [Int]]

    init(
        nodes: [Node], managers: [String: Int], faults: [String: BackplaneError], documentErrors: [BackplaneError],
        dataNamespaces: Set<String>, routes: [ManagerRoutes] = [], screens: [String: String] = [:]
    ) {
        (self.nodes, self.managers, self.faults, self.documentErrors) = (nodes, managers, faults, documentErrors)
        (self.dataNamespaces, self.routes, self.screens) = (dataNamespaces, routes, screens)
        var layers: [String: [Int]] = [:]
        for node in nodes where node.role != .manager {
            for manager in node.managers { layers[manager, default: []].append(node.id) }
        }
        layersByManager = layers
    }
}

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
                    guard let id = share(service, for: name) else { continue }
                    services.append(Link(label: service.definition.address.label, provider: id))
                }
                let id = append(entry, choice, services, for: name)
                wires.append(Link(label: ReservedLabel.communicationController, provider: id))
            }
            wires += definition.uses.sorted { $0.key < $1.key }.compactMap { label, used in
                managers[used].map { Link(label: label, provider: $0) }
            }
            let declared = Set(entry.component.wires.map(\.label))
            managers[name] = append(entry, manager, wires.filter { declared.contains($0.label) }, for: name)
        }

        /// Returns the node of a component that is shared by all users with the same definition.
        private mutating func share(_ choice: Resolution.Choice, for manager: String) -> Int? {
            guard let identity = choice.identity else { return nil }
            if let id = shared[identity] {
                nodes[id].addresses.append(choice.definition.address)
                if !nodes[id].managers.contains(manager) { nodes[id].managers.append(manager) }
                nodes[id].was = nodes[id].was ?? choice.definition.definition.was
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
                id: nodes.count, entry: entry, configuration: choice.configuration,
                configurationKey: definition.configurationKey, wires: wires,
                location: document.location(of: definition), namespace: definition.namespace,
                was: definition.definition.was, addresses: [definition.address],
                managers: [manager], origins: document.origins(below: definition.path))
            nodes.append(node)
            return node.id
        }
    }
}

extension [String: ManifestValue] {
    var json: Data { ManifestValue.dictionary(self).json }
}

extension Plan {
    /// Returns the node of a manager.
    ///
    /// - Throws: The manager's fault, or `manager.unknown` with the existing names.
    package func node(ofManager name: String) throws(BackplaneError) -> Node {
        if let id = managers[name] { return nodes[id] }
        throw faults[name] ?? unknownManager(name)
    }

    /// Returns the nodes, except for used managers, that must be running before a node is created, in the order of
    /// creation.
    package func layers(of node: Node) -> [Node] {
        guard node.role == .manager, let name = node.managers.first else {
            return node.wires.map { nodes[$0.provider] }
        }
        // A manager's wires are not enough: a collaborator that its class does not declare is created, too.
        return (layersByManager[name] ?? []).map { nodes[$0] }
    }

    private func unknownManager(_ name: String) -> BackplaneError {
        .unknownManager(name, among: Array(managers.keys) + Array(faults.keys), at: nil, causes: documentErrors)
    }
}

extension BackplaneError {
    /// Returns the error for a manager that does not exist.
    ///
    /// - Parameter names: The existing names; `nil` omits them from the message.
    static func unknownManager(
        _ name: String, among names: [String]?, at location: String?, causes: [BackplaneError] = []
    ) -> BackplaneError {
        guard let names else {
            return BackplaneError(.unknownManager, "no manager is named `\(name)`", at: location, causes: causes)
        }
        let suggestions = NameSuggestions(for: name, among: names)
        let hint = suggestions.question ?? (names.isEmpty ? "there are none" : "there are \(suggestions.list)")
        return BackplaneError(.unknownManager, "no manager is named `\(name)`; \(hint)", at: location, causes: causes)
    }
}

extension Plan.Node {
    /// The name in messages: a manager's name in the manifest, or the class name of any other component.
    var name: String {
        role == .manager ? managers[0] : entry.component.className
    }
}

extension Plan.Node {
    /// Checks that the node provides a contract.
    ///
    /// - Throws: `wire.mismatch`.
    func requireService(of needed: ContractDescription) throws(BackplaneError) {
        guard let difference = entry.component.contract.difference(from: needed) else { return }
        throw mismatch(with: needed, difference)
    }

    func mismatch(with needed: ContractDescription, _ difference: String) -> BackplaneError {
        BackplaneError(
            .wireMismatch, "`\(needed.name)` \(needed.version) was requested of \(name), but \(entry) \(difference)",
            at: location)
    }
}

/// The location in a manager's definition that determines the provider of a wire.
struct Socket {
    /// The role of the components that can be providers.
    let role: Role
    /// Whether the manifest defines a provider.
    let isFilled: Bool
    /// The path of the provider's definition or name, or the path at which a missing one is expected.
    let path: ManifestPath
}

extension ManagerDefinition {
    /// Returns the socket of a wire.
    ///
    /// - Parameters:
    ///   - label: The label of the wire.
    ///   - role: The role of the component that declares it.
    ///   - path: The path of this definition.
    func socket(of label: String, of role: Role, at path: ManifestPath) -> Socket {
        switch (role, label) {
        case (.manager, ReservedLabel.dataAccessController):
            return Socket(role: .dataAccessController, isFilled: dataAccessController != nil, path: path / label)
        case (.manager, ReservedLabel.communicationController):
            return Socket(role: .communicationController, isFilled: communicationController != nil, path: path / label)
        case (.manager, _):
            return Socket(role: .manager, isFilled: uses[label] != nil, path: path / "uses" / label)
        default:
            let index = communicationController?.services.firstIndex { $0.propertyName == label }
            let path = path / ReservedLabel.communicationController / "services"
            return Socket(
                role: .networkService, isFilled: index != nil && role == .communicationController,
                path: index.map { path / $0 } ?? path)
        }
    }
}

/// The class that serves a definition of the manifest without a plugin, and any problems with it.
package struct BuiltInChoice: Sendable {
    /// The class; `nil` if there is none, for the reasons stated or because of another error of the manager.
    var entry: Catalogue.Entry?
    var problems: [Problem] = []
}

/// The name of the private folder of a communication controller or a network service.
package enum NetworkFolderName: Sendable, Hashable {
    case namespace(String)
    /// The location of the component in the manifest: the manager, and the label by which it is reached there.
    case place(manager: String, label: String)
}

extension Plan.Node {
    /// The name of the component's folder, if it uses the network.
    var networkFolder: NetworkFolderName? {
        guard role == .communicationController || role == .networkService else { return nil }
        let address = addresses.min { ($0.manager, $0.label) < ($1.manager, $1.label) } ?? addresses[0]
        return namespace.map { .namespace($0) } ?? .place(manager: address.manager, label: address.label)
    }
}

package import Backplane
import BackplaneDocuments

extension Plan {
    /// Returns the node of a manager.
    ///
    /// - Throws: The manager's fault, or `manager.unknown` with the existing names.
    package func node(ofManager name: String) throws(BackplaneError) -> Node {
        if let id = managers[name] { return nodes[id] }
        throw faults[name] ?? unknownManager(name)
    }

    /// Returns the nodes that a manager needs, including its own, in the order of creation.
    ///
    /// The ids are those of the whole plan.
    ///
    /// - Throws: The errors of ``node(ofManager:)``.
    package func nodes(neededBy name: String) throws(BackplaneError) -> [Node] {
        var needed: Set<String> = []
        var waiting = [try node(ofManager: name)]
        while let manager = waiting.popLast() {
            needed.formUnion(manager.managers)
            waiting += manager.wires.map { nodes[$0.provider] }.filter {
                $0.role == .manager && needed.isDisjoint(with: $0.managers)
            }
        }
        return nodes.filter { !needed.isDisjoint(with: $0.managers) }
    }

    /// Returns the nodes, except for used managers, that must be running before a node is created, in the order of
    /// creation.
    package func layers(of node: Node) -> [Node] {
        guard node.role == .manager, let name = node.managers.first else {
            return node.wires.map { nodes[$0.provider] }
        }
        // A manager's wires are not enough: a collaborator that its class does not ask for is created anyway.
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

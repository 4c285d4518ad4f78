package import Backplane

extension Plan {
    /// The node of a manager.
    ///
    /// - Throws: the manager's fault, or `manager.unknown` with the names there are.
    package func node(ofManager name: String) throws(BackplaneError) -> Node {
        if let id = managers[name] { return nodes[id] }
        throw faults[name] ?? unknownManager(name)
    }

    /// All that one manager needs and the manager itself, in the order of creation; ids are those of the whole plan.
    ///
    /// - Throws: as ``node(ofManager:)``.
    package func nodes(neededBy name: String) throws(BackplaneError) -> [Node] {
        var needed: Set<String> = []
        var waiting = [try node(ofManager: name)]
        while let manager = waiting.popLast() {
            needed.formUnion(manager.managers)
            waiting += manager.wires.map { nodes[$0.provider] }.filter { $0.role == .manager && needed.isDisjoint(with: $0.managers) }
        }
        return nodes.filter { !needed.isDisjoint(with: $0.managers) }
    }

    /// What has to be up before a node is made, besides managers that it uses, in the order of creation.
    package func layers(of node: Node) -> [Node] {
        guard node.role == .manager, let name = node.managers.first else { return node.wires.map { nodes[$0.provider] } }
        // Not by the wires alone: a layer that its manager's class does not ask for is created all the same.
        return (layersByManager[name] ?? []).map { nodes[$0] }
    }

    private func unknownManager(_ name: String) -> BackplaneError {
        .unknownManager(name, among: Array(managers.keys) + Array(faults.keys), at: nil, causes: documentErrors)
    }
}

extension BackplaneError {
    /// - Parameter names: those that there are; `nil`: nothing is said of them.
    static func unknownManager(_ name: String, among names: [String]?, at location: String?, causes: [BackplaneError] = []) -> BackplaneError {
        guard let names else { return BackplaneError(.unknownManager, "no manager is named `\(name)`", at: location, causes: causes) }
        let suggestions = NameSuggestions(for: name, among: names)
        let hint =
            if names.isEmpty { "there are none" } else { [suggestions.question, "there are \(suggestions.list)"].compactMap(\.self).joined(separator: " ") }
        return BackplaneError(.unknownManager, "no manager is named `\(name)`; \(hint)", at: location, causes: causes)
    }
}

import Backplane

/// The changes that lead from one plan to another, as node ids.
///
/// A node is kept if its definition and its component class are the same and all nodes that it is wired to are kept
/// too. So exactly the nodes that depend on a change are recreated.
struct PlanChange {
    /// The new id of each kept node, by its old id.
    private(set) var kept: [Int: Int] = [:]
    /// The old ids of the nodes to remove, in the order of creation.
    private(set) var removed: [Int] = []
    /// The new ids of the nodes to create, in the order of creation.
    private(set) var added: [Int] = []

    /// Creates the change from one plan to another.
    ///
    /// - Parameter isSame: A function that returns whether two entries are the same class of the same loaded library.
    init(from old: Plan, to new: Plan, isSame: (Catalogue.Entry, Catalogue.Entry) -> Bool) {
        let places = Dictionary(old.nodes.map { ($0.key, $0.id) }, uniquingKeysWith: { first, _ in first })
        for node in new.nodes {
            if let place = places[node.key], keeps(old.nodes[place], as: node, isSame) {
                kept[place] = node.id
            } else {
                added.append(node.id)
            }
        }
        removed = old.nodes.map(\.id).filter { kept[$0] == nil }
    }

    /// Creates a change that recreates the given nodes of a plan, and nothing else.
    init(resetting places: Set<Int>, of plan: Plan) {
        for node in plan.nodes where !places.contains(node.id) { kept[node.id] = node.id }
        removed = places.sorted()
        added = removed
    }

    private func keeps(_ old: Plan.Node, as new: Plan.Node, _ isSame: (Catalogue.Entry, Catalogue.Entry) -> Bool)
        -> Bool
    {
        guard old.configuration == new.configuration, isSame(old.entry, new.entry), old.wires.count == new.wires.count
        else { return false }
        return zip(old.wires, new.wires).allSatisfy { old, new in
            old.label == new.label && kept[old.provider] == new.provider
        }
    }
}

extension Plan.Node {
    /// The identity of the node across plans, which is unique within a plan.
    fileprivate var key: Key {
        switch role {
        case .manager, .communicationController: Key(role: role, manager: managers[0])
        case .dataAccessController, .networkService:
            Key(
                role: role, plugin: entry.plugin, className: entry.component.className,
                version: entry.component.version, configuration: Array(configuration), namespace: namespace)
        }
    }

    fileprivate struct Key: Hashable {
        var role: Role
        var manager: String?
        var plugin: String?
        var className: String?
        var version: Version?
        var configuration: [UInt8]?
        var namespace: String?
    }
}

import Backplane

/// What has to be done to get from one plan to another, by the nodes' places in them.
///
/// A node stays when its definition and its component are the same and everything that it is wired to stays too; so exactly
/// what depends on a change is made anew.
struct PlanChange {
    /// The new place of each node that stays, by its old place.
    private(set) var kept: [Int: Int] = [:]
    /// The old places of those that do not, in the order of creation.
    private(set) var removed: [Int] = []
    /// The new places of those that are made, in the order of creation.
    private(set) var added: [Int] = []

    /// - Parameter isSame: are these the same class of the same loaded library?
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

    /// Resets some nodes of a plan: they and nothing else are made anew.
    init(resetting places: Set<Int>, of plan: Plan) {
        for node in plan.nodes where !places.contains(node.id) { kept[node.id] = node.id }
        removed = places.sorted()
        added = removed
    }

    private func keeps(_ old: Plan.Node, as new: Plan.Node, _ isSame: (Catalogue.Entry, Catalogue.Entry) -> Bool) -> Bool {
        guard old.configuration == new.configuration, isSame(old.entry, new.entry), old.wires.count == new.wires.count else { return false }
        return zip(old.wires, new.wires).allSatisfy { old, new in old.label == new.label && kept[old.provider] == new.provider }
    }
}

extension Plan.Node {
    /// What it is called in every plan: at most one node of a plan has it.
    fileprivate var key: Key {
        switch role {
        case .manager, .communicationController: Key(role: role, manager: managers[0])
        case .dataAccessController, .networkService:
            Key(role: role, plugin: entry.plugin, className: entry.component.className, version: entry.component.version, configuration: Array(configuration), namespace: namespace)
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

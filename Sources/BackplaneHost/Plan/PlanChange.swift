import Backplane

/// The changes from one plan to another, as node ids.
///
/// A node is kept if its definition and its component class are the same, and all nodes to which it is wired are also
/// kept. Therefore exactly the nodes that depend on a change are recreated. A node whose class is reconfigurable is
/// also kept if only its configuration differs.
struct PlanChange {
    /// The new id of each kept node, by its old id.
    private(set) var kept: [Int: Int] = [:]
    /// The old ids of the kept nodes whose configuration changes, in the order of creation.
    private(set) var reconfigured: [Int] = []
    /// The old ids of the nodes to remove, in the order of creation.
    private(set) var removed: [Int] = []
    /// The new ids of the nodes to create, in the order of creation.
    private(set) var added: [Int] = []
    /// The nodes that continue others, including those that are recreated.
    let succession: Succession

    /// Creates the change from one plan to another.
    ///
    /// - Parameters:
    ///   - isSame: A function that returns whether two entries are the same class of the same loaded library.
    ///   - isReconfigurable: A function that returns whether instances of an entry accept another configuration.
    init(
        from old: Plan, to new: Plan, isReconfigurable: (Catalogue.Entry) -> Bool = { _ in false },
        isSame: (Catalogue.Entry, Catalogue.Entry) -> Bool
    ) {
        succession = Succession(from: old, to: new)
        let places = Dictionary(old.nodes.map { ($0.key, $0.id) }, uniquingKeysWith: { first, _ in first })
        // Expensive, and needed only for a node that is not found by its key.
        lazy var unconfigured = old.unconfigured
        lazy var uses = new.uses
        for node in new.nodes {
            // A shared collaborator is the same only if all who share it change alike.
            let place =
                keepable(places[node.key], of: old, as: node, isSame)
                ?? keepable(
                    unconfigured[Unconfigured(node, usedBy: uses[node.id])] ?? nil, of: old, as: node, isSame)
            guard let place else {
                added.append(node.id)
                continue
            }
            if old.nodes[place].configuration != node.configuration {
                guard isReconfigurable(node.entry) else {
                    added.append(node.id)
                    continue
                }
                reconfigured.append(place)
            }
            kept[place] = node.id
        }
        removed = old.nodes.map(\.id).filter { kept[$0] == nil }
    }

    /// Creates a change that recreates the given nodes of a plan, and nothing else.
    init(resetting places: Set<Int>, of plan: Plan) {
        for node in plan.nodes where !places.contains(node.id) { kept[node.id] = node.id }
        removed = places.sorted()
        added = removed
        succession = Succession(from: plan, to: plan)
    }

    /// Returns the id of an old node if it can be kept as a new one and is not already kept as another.
    private func keepable(
        _ place: Int?, of old: Plan, as node: Plan.Node, _ isSame: (Catalogue.Entry, Catalogue.Entry) -> Bool
    ) -> Int? {
        guard let place, kept[place] == nil, keeps(old.nodes[place], as: node, isSame) else { return nil }
        return place
    }

    private func keeps(_ old: Plan.Node, as new: Plan.Node, _ isSame: (Catalogue.Entry, Catalogue.Entry) -> Bool)
        -> Bool
    {
        // A component of the network whose folder has another name would otherwise share it with the name's next owner.
        guard old.namespace == new.namespace, old.networkFolder == new.networkFolder, isSame(old.entry, new.entry),
            old.wires.count == new.wires.count
        else { return false }
        return zip(old.wires, new.wires).allSatisfy { old, new in
            old.label == new.label && kept[old.provider] == new.provider
        }
    }
}

/// The identity of a node without its configuration, where that is part of its own identity.
private struct Unconfigured: Hashable {
    var key: Plan.Node.Key
    var managers: Set<String>
    var uses: Set<Plan.Use>

    init(_ node: Plan.Node, usedBy uses: Set<Plan.Use>) {
        (key, managers, self.uses) = (node.key, Set(node.managers), uses)
        key.configuration = nil
    }
}

extension Plan {
    /// The ids of the nodes whose configuration is part of their identity, keyed by everything else; `nil` where
    /// several nodes have the same key.
    fileprivate var unconfigured: [Unconfigured: Int?] {
        let uses = uses
        return Dictionary(
            nodes.filter(\.isIdentifiedByConfiguration).map {
                (Unconfigured($0, usedBy: uses[$0.id]), Optional($0.id))
            },
            // Nodes that differ only in their configurations cannot be told apart, so none of them continues another.
            uniquingKeysWith: { _, _ in nil })
    }

    /// The wires to each node, keyed by its id, with the managers and labels of their users.
    fileprivate var uses: [Set<Use>] {
        var uses = nodes.map { _ in Set<Use>() }
        for node in nodes {
            for wire in node.wires {
                uses[wire.provider].insert(Use(role: node.role, manager: node.managers[0], label: wire.label))
            }
        }
        return uses
    }

    fileprivate struct Use: Hashable {
        var role: Role
        var manager: String
        var label: String
    }
}

extension Plan.Node {
    /// A Boolean value that indicates whether the configuration is part of the node's identity, because equal nodes are
    /// shared.
    fileprivate var isIdentifiedByConfiguration: Bool { role == .dataAccessController || role == .networkService }

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

import Backplane

/// The nodes of one plan that the nodes of another continue, determined by their locations in the manifests.
///
/// A manager continues the manager of the same name. If there is none, it continues the manager of its former name
/// (`was`), or else the manager that formerly had its name. A data access controller continues the controller of its
/// namespace in the same way. Every other node continues the node at the same location below the manager that its own
/// manager continues. No node is continued by two nodes.
struct Succession {
    /// The earlier node that each node continues, by the later plan's ids.
    private(set) var before: [Int?]
    /// The later node that continues each node, by the earlier plan's ids.
    private(set) var after: [Int?]

    init(from old: Plan, to new: Plan) {
        before = Array(repeating: nil, count: new.nodes.count)
        after = Array(repeating: nil, count: old.nodes.count)
        pairManagers(old, new)
        pairNamespaces(old, new)
        pairPlaces(old, new)
    }

    private mutating func pair(_ old: Int?, _ new: Int) {
        guard let old, before[new] == nil, after[old] == nil else { return }
        (before[new], after[old]) = (old, new)
    }

    private mutating func pairManagers(_ old: Plan, _ new: Plan) {
        for (name, place) in new.managers { pair(old.managers[name], place) }
        for node in new.nodes where node.role == .manager {
            guard let was = node.was, new.faults[was] == nil else { continue }
            pair(old.managers[was], node.id)
        }
        // A manifest that is applied again has the former names.
        for node in old.nodes where node.role == .manager {
            if let was = node.was, let place = new.managers[was] { pair(node.id, place) }
        }
    }

    private mutating func pairNamespaces(_ old: Plan, _ new: Plan) {
        var places: [String: Int] = [:]
        for node in old.nodes { if let namespace = node.dataNamespace { places[namespace] = node.id } }
        let controllers = new.nodes.filter { $0.dataNamespace != nil }
        for node in controllers { pair(node.namespace.flatMap { places[$0] }, node.id) }
        for node in controllers { pair(node.was.flatMap { places[$0] }, node.id) }
        for node in old.nodes {
            guard node.dataNamespace != nil, let was = node.was,
                let place = controllers.first(where: { $0.namespace == was })?.id
            else { continue }
            pair(node.id, place)
        }
    }

    private mutating func pairPlaces(_ old: Plan, _ new: Plan) {
        let earlier = { [before] (manager: String) -> String? in
            new.managers[manager].flatMap { before[$0] }.map { old.nodes[$0].name }
        }
        var known: [ComponentAddress: Int] = [:]
        for node in old.nodes { for address in node.addresses { known[address] = node.id } }
        // If several nodes could continue a shared component, an unchanged one does.
        for isUnchanged in [true, false] {
            for node in new.nodes where node.role != .manager {
                for address in node.addresses {
                    let former = earlier(address.manager).flatMap { known[address.with(manager: $0)] }
                    guard let former, !isUnchanged || old.nodes[former].isDefined(as: node) else { continue }
                    pair(former, node.id)
                }
            }
        }
        // A service whose property was renamed is found by its class.
        var classes: [ComponentAddress: Int] = [:]
        for node in old.nodes where node.role == .networkService {
            for address in node.addresses { classes[address.with(property: node.name)] = node.id }
        }
        for node in new.nodes where node.role == .networkService {
            for address in node.addresses {
                pair(
                    earlier(address.manager).flatMap { classes[address.with(manager: $0, property: node.name)] },
                    node.id)
            }
        }
    }
}

extension Plan.Node {
    /// Returns whether another node has the same class and configuration.
    fileprivate func isDefined(as other: Plan.Node) -> Bool {
        entry.component.className == other.entry.component.className && configuration == other.configuration
    }
}

extension ComponentAddress {
    fileprivate func with(manager: String? = nil, property: String? = nil) -> ComponentAddress {
        ComponentAddress(manager: manager ?? self.manager, role: role, property: property ?? self.property)
    }
}

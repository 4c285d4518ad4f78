import Backplane
import BackplaneHost

extension ComponentGraph {
    /// Creates a graph of the plan's components in creation order, then the managers that cannot be created, by name.
    init(_ composition: Composition) {
        let faults = composition.plan.faults.sorted { $0.key < $1.key }
        let names = Dictionary(uniqueKeysWithValues: faults.enumerated().map { ($0.element.key, "f\($0.offset)") })
        let problems = Dictionary(
            composition.problems.lazy.filter { $0.severity == .error }.compactMap { problem in
                problem.manager.map { ($0, problem.error) }
            },
            uniquingKeysWith: { first, _ in first })
        nodes = composition.plan.nodes.map(Node.init)
        nodes += faults.map { name, error in
            Node(
                id: names[name] ?? name, kind: .fault, name: name,
                className: composition.document.manifest.managers[name]?.className,
                managers: [name], fault: (problems[name] ?? error).message)
        }
        edges = composition.wires.map(Edge.init)
        edges += faults.flatMap { name, _ in
            composition.uses(of: name).compactMap { use in
                guard let to = composition.plan.managers[use.manager].map({ "n\($0)" }) ?? names[use.manager] else {
                    return nil
                }
                return Edge(from: names[name] ?? name, to: to, label: use.label, style: .open)
            }
        }
    }
}

extension ComponentGraph.Node {
    fileprivate init(_ node: Plan.Node) {
        let component = node.entry.component
        self.init(
            id: "n\(node.id)", kind: Kind(node.role), name: node.role == .manager ? node.managers.first : nil,
            className: component.className,
            version: component.version.description, plugin: node.entry.plugin, streams: component.contract?.streams,
            managers: node.managers)
    }
}

extension ComponentGraph.Node.Kind {
    fileprivate init(_ role: Role) {
        self =
            switch role {
            case .manager: .manager
            case .dataAccessController: .dataAccessController
            case .communicationController: .communicationController
            case .networkService: .networkService
            }
    }
}

extension ComponentGraph.Edge {
    fileprivate init(_ wire: Composition.PlannedWire) {
        self.init(
            from: "n\(wire.user)", to: "n\(wire.provider)", label: wire.label, contract: wire.contract,
            version: wire.version.description, style: .native)
        switch wire.lane {
        case .native: break
        case .encoded(let reason): (style, because) = (.encoded, reason)
        case .served(let reason): (style, because) = (.served, reason)
        }
    }
}

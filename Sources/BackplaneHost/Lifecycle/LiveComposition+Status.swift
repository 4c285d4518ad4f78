import Backplane

extension LiveComposition {
    /// The names of the running managers.
    var managersUp: Set<String> {
        Set(nodes.lazy.filter { $0.node.role == .manager && $0.running != nil }.map(\.node.name))
    }

    /// The managers of the manifest and their states, sorted by name.
    var statuses: [ManagerStatus] {
        let loaded = loaded, plan = loaded.plan
        let sound = plan.managers.map { name, place in
            let entry = plan.nodes[place].entry
            return ManagerStatus(
                name: name, state: nodes[place].state.status, className: entry.component.className,
                version: entry.component.version, plugin: entry.plugin)
        }
        let faulty = plan.faults.map { name, error in
            ManagerStatus(
                name: name, state: .unsatisfied(error), className: loaded.document.manifest.managers[name]?.className)
        }
        return (sound + faulty).sorted { $0.name < $1.name }
    }
}

extension LiveNode.State {
    fileprivate var status: ManagerState {
        switch self {
        case .resolved: .resolved
        case .starting: .starting
        case .ready: .ready
        case .quiescing: .quiescing
        case .stopped: .stopped
        case .removed(let former): former.status
        case .failed(let error, _): .failed(error)
        case .unsatisfied(let error, _): .unsatisfied(error)
        }
    }
}

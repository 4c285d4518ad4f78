import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneTerminal

/// A manager as listed by `run`.
struct ManagerRow: Encodable {
    var name: String
    var className: String
    var version: String
    var plugin: String
    var state: String
    /// The reason why the manager is not ready.
    var reason: BackplaneError?

    init(_ status: ManagerStatus) {
        (name, className, state) = (status.name, status.className ?? "-", status.state.description)
        (version, plugin) = (status.version?.description ?? "-", status.plugin ?? "-")
        switch status.state {
        case .unsatisfied(let error), .failed(let error): reason = error.shown
        case .resolved, .starting, .ready, .quiescing, .stopped: break
        }
    }
}

extension Table {
    /// Creates a table of managers, with a column for the reasons if any manager is not ready.
    init(_ managers: [ManagerStatus]) {
        let rows = managers.map(ManagerRow.init), tellsWhy = rows.contains { $0.reason != nil }
        self.init(
            ["MANAGER", "CLASS", "VERSION", "PLUGIN", "STATE"] + (tellsWhy ? ["WHY"] : []),
            zip(managers, rows).map { manager, row in
                [row.name, row.className, row.version, row.plugin].map { Span($0.printable) } + [manager.state.span]
                    + (tellsWhy ? [Span(row.reason?.description.printable.namingOptions ?? "")] : [])
            })
    }
}

extension ManagerState {
    fileprivate var span: Span {
        switch self {
        case .ready: Span(description, .good)
        case .failed, .unsatisfied: Span(description, .bad)
        case .resolved, .starting, .quiescing, .stopped: Span(description)
        }
    }
}

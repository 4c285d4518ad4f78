import Backplane
import BackplaneDocuments
import BackplaneHost
import BackplaneTerminal

/// A problem in the format of `check --json`.
struct ProblemRow: Encodable {
    var severity: String
    var manager: String?
    var location: String?
    var line: Int?
    var column: Int?
    var code: String
    var message: String
    var causes: [BackplaneError]

    init(_ problem: Problem) {
        (severity, manager, location) = (problem.severity.rawValue, problem.manager, problem.error.location)
        (line, column) = (problem.position?.line, problem.position?.column)
        (code, message, causes) = (problem.error.code.rawValue, problem.error.message, problem.error.causes)
    }
}

/// A manager as `run` lists it.
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
        case .unsatisfied(let error), .failed(let error): reason = error
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
                    + (tellsWhy ? [Span(row.reason?.description.printable ?? "")] : [])
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

/// A wire as `call --explain` lists it.
struct WireRow: Codable, Sendable {
    var user: String?
    var label: String
    var provider: String
    var contract: String
    var version: String
    var lane: String
    var reason: String?

    init(_ wire: WireStatus) {
        (user, label, provider, contract, version) = (
            wire.user, wire.label, wire.provider, wire.contract, wire.version.description
        )
        switch wire.lane {
        case .native: lane = "native"
        case .encoded(let why): (lane, reason) = ("encoded", why)
        case .served(let why): (lane, reason) = ("encoded, through the host", why)
        }
    }

    var cells: [Span] {
        [user ?? "host program", label, provider, "\(contract) \(version)"].map { Span($0.printable) }
            + [Span(lane, reason == nil ? .good : .doubtful), Span((reason ?? "").printable)]
    }
}

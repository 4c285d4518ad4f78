import Backplane
import BackplaneHost

/// A problem as `check --json` prints it.
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

    init(_ status: ManagerStatus) {
        (name, className, state) = (status.name, status.className ?? "-", status.state.description)
        (version, plugin) = (status.version?.description ?? "-", status.plugin ?? "-")
    }
}

extension ManagerStatus {
    /// The same at a terminal.
    var cells: [Span] {
        let row = ManagerRow(self)
        let style: Span.Style =
            switch state {
            case .ready: .good
            case .failed, .unsatisfied: .bad
            case .resolved, .starting, .stopped: .plain
            }
        return [row.name, row.className, row.version, row.plugin].map { Span($0.printable) } + [Span(row.state, style)]
    }
}

/// A wire as `call --explain` lists it.
struct WireRow: Encodable {
    var user: String?
    var label: String
    var provider: String
    var contract: String
    var version: String
    var lane: String
    var reason: String?

    init(_ wire: WireStatus) {
        (user, label, provider, contract, version) = (wire.user, wire.label, wire.provider, wire.contract, wire.version.description)
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

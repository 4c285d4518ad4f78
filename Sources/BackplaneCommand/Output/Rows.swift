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

extension Problem {
    /// A line as compilers print it, `file:line:column: error: message`, and what is behind it.
    func report(in manifest: String) -> String {
        let place = position.map { "\(manifest):\($0.line):\($0.column)" } ?? manifest
        let path = error.location.flatMap { $0 == manifest || $0.isEmpty ? nil : " \($0):" } ?? ""
        // What is malformed says its position itself, for those who get nothing but the error.
        let message = position.map { error.message.dropPrefix("\($0): ") } ?? error.message
        let causes = error.causes.map { "\n  " + $0.detailedDescription.split(separator: "\n").joined(separator: "\n  ") }.joined()
        return "\(place): \(severity.rawValue):\(path) \(message) [\(error.code)]\(causes)"
    }
}

extension String {
    fileprivate func dropPrefix(_ prefix: String) -> String {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self
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

    var cells: [String] { [user ?? "host program", label, provider, "\(contract) \(version)", lane, reason ?? ""] }
}

import Backplane
import BackplaneHost
import BackplaneTerminal

/// A wire as listed by `call --explain`.
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

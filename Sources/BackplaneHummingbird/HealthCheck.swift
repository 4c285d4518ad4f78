#if Engines
import Backplane
import BackplaneHost
import FoundationEssentials

/// The health of a host, which is up if every manager that starts with the host is ready.
///
/// The check contains the names of managers and the codes of errors, but no messages, because they may contain secrets.
struct HealthCheck: Encodable, Sendable {
    struct Manager: Encodable, Sendable {
        var name: String
        var state: String
        /// The code of the reason why the manager is not ready.
        var code: String?
    }
    enum Status: String, Encodable, Sendable { case up, down }
    var status: Status
    var managers: [Manager]

    init(of host: PluginHost) async { self.init(await host.managers, lazy: await host.lazyManagers) }

    init(_ managers: [ManagerStatus], lazy: Set<String>) {
        // The state of a lazy manager tells only whether the manager was needed, and whether that use failed.
        status = managers.allSatisfy { $0.state == .ready || lazy.contains($0.name) } ? .up : .down
        self.managers = managers.map { manager in
            Manager(name: manager.name, state: manager.state.description, code: manager.state.reason?.code.rawValue)
        }
    }

    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // It consists of texts, which can always be encoded.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}

extension ManagerState {
    fileprivate var reason: BackplaneError? {
        switch self {
        case .unsatisfied(let error), .failed(let error): error
        case .resolved, .starting, .ready, .quiescing, .stopped: nil
        }
    }
}
#endif

import Backplane
import BackplaneExchange
import BackplaneNetwork
import Synchronization

/// The way of a host's exchanges, as the active manifest configures it.
final class HostNetwork: Sendable {
    /// A function that returns the manager that is an executor, started if it is not up.
    typealias Find = @Sendable (String) async throws(BackplaneError) -> Remote<HTTPExecuting>

    private struct State {
        /// The way of all exchanges but those of carriers.
        var pipeline: HTTPPipeline
        /// The way of the exchanges of carriers, which passes no executor of a plugin.
        var ownPipeline: HTTPPipeline
        /// The managers that take part in carrying out exchanges: executors, and the managers that they use.
        var carriers: Set<String> = []
        var find: Find?
    }
    private let executors: [any HTTPExecutor]
    /// The manifest's folder, which paths are relative to.
    private let folder: String
    /// The budgets of retries, which outlast manifests.
    private let retries = Retries()
    private let state: Mutex<State>

    init(_ executors: [any HTTPExecutor], folder: String?) {
        (self.executors, self.folder) = (executors, FilePath.absolute(folder ?? "."))
        let pipeline = HTTPPipeline(executors, retries: retries)
        state = Mutex(State(pipeline: pipeline, ownPipeline: pipeline))
    }

    /// Gives the function that returns the managers that are executors.
    func connect(_ find: @escaping Find) { state.withLock { $0.find = find } }

    /// Follows the settings of a manifest that becomes active; exchanges in progress keep theirs.
    func follow(_ manifest: Manifest) {
        let tls = manifest.network.tls.mapValues { $0.below(folder) }, names = manifest.network.executors
        var named: [String: HTTPPipeline.Connect] = [:]
        for (name, manager) in names {
            named[name] = { [weak self] call in
                guard let find = self?.state.withLock({ $0.find }) else { throw BackplaneError.hostHasStopped }
                return try await PluginExecutor(name, call) { () async throws(BackplaneError) in try await find(manager)
                }
            }
        }
        let pipeline = HTTPPipeline(executors, tls: tls, named: named, reserved: [], retries: retries)
        let own = HTTPPipeline(executors, tls: tls, named: [:], reserved: Set(names.keys), retries: retries)
        state.withLock { state in
            (state.pipeline, state.ownPipeline, state.carriers) = (pipeline, own, manifest.carriers)
        }
    }

    /// The way of the host program's exchanges.
    var pipeline: HTTPPipeline { state.withLock { $0.pipeline } }

    /// Returns the way of the exchanges of a component.
    ///
    /// The exchanges of an executor of a plugin pass no such executor.
    ///
    /// - Parameter managers: The managers that the component belongs to.
    func pipeline(of managers: [String]) -> HTTPPipeline {
        state.withLock { state in
            managers.contains(where: state.carriers.contains) ? state.ownPipeline : state.pipeline
        }
    }
}

extension Manifest {
    /// The managers that are executors, and those that they use.
    fileprivate var carriers: Set<String> {
        var carriers: Set<String> = []
        var waiting = Array(network.executors.values)
        while let name = waiting.popLast() {
            guard carriers.insert(name).inserted else { continue }
            waiting += managers[name].map { Array($0.uses.values) } ?? []
        }
        return carriers
    }
}

extension TLSSettings {
    /// Returns the settings with a path that does not depend on the current folder.
    fileprivate func below(_ folder: String) -> TLSSettings {
        var settings = self
        settings.roots = roots.map { $0.hasPrefix("/") ? $0 : FilePath.join(folder, $0) }
        return settings
    }
}

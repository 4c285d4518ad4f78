import Backplane
import Synchronization

/// The managers of plugins that take part in exchanges, found by their names once the host can start them.
final class NetworkManagers: Sendable {
    /// A host as the network sees it.
    protocol Finder: Sendable {
        /// Returns a manager, starting it if necessary.
        func manager<C: Contract>(_ name: String, as contract: C.Type) async throws(BackplaneError) -> Remote<C>
    }
    private let finder = Mutex<(any Finder)?>(nil)

    /// Sets the host that finds managers.
    func connect(_ finder: any Finder) { self.finder.withLock { $0 = finder } }

    /// Returns a manager, starting it if necessary.
    ///
    /// - Throws: The reason why it is not running; `host.stopped` after the host has stopped.
    func find<C: Contract>(_ name: String, as contract: C.Type) async throws(BackplaneError) -> Remote<C> {
        guard let finder = finder.withLock({ $0 }) else { throw .hostHasStopped }
        return try await finder.manager(name, as: contract)
    }
}

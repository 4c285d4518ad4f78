package import Backplane
package import BackplaneNetwork
import Synchronization

/// Properties and functions that the windows of an application use.
extension PluginHost {
    /// The screens of the active plan, which are always available immediately.
    package var screens: HostScreens { coordinator.screens }

    /// Loads the libraries of the manifest if necessary, so that its screens are known.
    package func loadScreens() async {
        if screens.table.revision == 0 { _ = await coordinator.loaded() }
    }

    /// Returns a wire to the first matching manager that provides a contract, ordered by plugin and then by name, which
    /// is started if it is not running.
    ///
    /// - Throws: `manager.unknown` if there is none; the error of its start; `host.stopped`.
    package func wire<C: Contract>(
        to _: C.Type, where isWanted: (ManagerDescription) -> Bool
    ) async throws(BackplaneError) -> Wire<C> {
        try coordinator.requireThreads()
        let providers = await coordinator.providers(of: C.self)
        guard let provider = providers.first(where: isWanted) else {
            let words = providers.isEmpty ? "" : " and meets the condition"
            throw BackplaneError(.unknownManager, "no manager provides \(C.name) \(C.version)\(words)")
        }
        if let slot = coordinator.knownSlot(to: provider.name, as: C.self) { return Wire(slot) }
        return Wire(try await coordinator.slot(to: provider.name, as: C.self))
    }

    /// Adds an action with which a stop begins, while components can still be called; it is waited for, up to a second.
    package func addStopAction(_ action: @escaping @Sendable () async -> Void) {
        coordinator.stopActions.withLock { $0.append(action) }
    }

    /// Observes the stages of all exchanges that begin from now on, until the returned value is released.
    ///
    /// - Parameter observe: A function that must not block.
    package func observeExchanges(_ observe: @escaping @Sendable (ExchangeEvent) -> Void) -> ExchangeObservation {
        ExchangeObservation(coordinator.network.taps, observe)
    }
}

/// An observation of all exchanges of a host, which ends when it is released.
package final class ExchangeObservation: Sendable {
    private let taps: ExchangeTaps
    private let number = Callbacks.newID()

    init(_ taps: ExchangeTaps, _ observe: @escaping @Sendable (ExchangeEvent) -> Void) {
        self.taps = taps
        taps.add(number, observe)
    }

    deinit { taps.remove(number) }
}

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

    /// Returns a wire to the first matching manager that provides a contract, starting the manager if necessary.
    ///
    /// Managers are ordered by plugin and then by name.
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

    /// Adds an action that runs when a stop begins, while components can still be called.
    ///
    /// The stop waits up to a second for the action.
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

/// Properties that a server of the host uses besides ``PluginHost/routing``.
extension PluginHost {
    /// The log of the host, with its levels.
    package var log: any LogSink { coordinator.log }

    /// The clock of limits and deadlines, including the limits and deadlines of a server.
    package var clock: any DeadlineClock { coordinator.clock }

    /// The time limit for a component, and a server of the host, to stop.
    package var stopLimit: Duration { coordinator.options.stopLimit }

    /// The names of the active manifest's managers that start only when they are looked up.
    package var lazyManagers: Set<String> {
        get async {
            let managers = await coordinator.loaded().document.manifest.managers
            return Set(managers.filter { $0.value.activation == .lazy }.keys)
        }
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

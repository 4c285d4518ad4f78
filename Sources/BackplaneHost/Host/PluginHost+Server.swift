package import Backplane

/// Properties that a server of the host uses besides ``PluginHost/routing``.
extension PluginHost {
    /// The log of the host, with its levels.
    package var log: any LogSink { coordinator.log }

    /// The clock of limits and deadlines, which also ends those of a server.
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

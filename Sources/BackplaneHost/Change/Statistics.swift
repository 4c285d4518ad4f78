import Backplane

extension LiveComposition {
    /// Returns the call counts of every component that is running.
    ///
    /// - Parameter retired: Replaced instances that have not ended, whose calls are in flight as well.
    func statistics(_ retired: [Retirement]) -> [ComponentStatistics] {
        guard isLoaded else { return [] }
        let plugins = loaded.plugins
        return nodes.compactMap { current in
            guard let component = current.callable else { return nil }
            let node = current.node, gate = component.gate, plugin = plugins[node.entry.order]
            let outlasting = retired.filter {
                $0.component.node.name == node.name && $0.component.node.managers == node.managers
            }
            let (timers, count) = component.timers.statistics(limit: ComponentStatistics.timersShown)
            return ComponentStatistics(
                component: node.name, role: "\(node.role)", managers: node.managers, plugin: node.entry.plugin,
                generation: generations.number(of: plugin), calls: gate.callsBegun,
                errors: gate.failuresEnded + component.failures,
                inFlight: gate.callsInFlight + gate.callsAside + outlasting.reduce(0) { $0 + $1.callsInFlight },
                waiting: gate.callsWaiting,
                streams: component.streams.statistics, timers: timers, timerCount: count,
                exchanges: gate.exchanges.statistics,
                latency: component.calls.latency, lastFailure: component.lastFailure ?? gate.lastFailureEnded)
        }
    }
}

import Backplane

/// The old instances that have not ended yet: calls are under way in them.
struct Retirements {
    struct Entry {
        let component: RunningComponent
        let plugin: LoadedPlugin
        /// Taken out of the slots when wires were led elsewhere.
        let bindings: Set<Binding>
        let end: Task<Void, Never>
        let order: Int

        var callsInFlight: Int {
            let leased = Array(bindings).callsInFlight
            // An encoded call whose caller has given it up is leased no more.
            return leased > 0 ? leased : component.calls.callsInFlight
        }
    }
    private var entries: [Int: Entry] = [:]
    private var last = 0

    /// By the order in which they began.
    var all: [Entry] { entries.values.sorted { $0.order < $1.order } }

    mutating func add(_ component: RunningComponent, of plugin: LoadedPlugin, _ bindings: Set<Binding>, _ end: (Int) -> Task<Void, Never>) {
        last += 1
        entries[last] = Entry(component: component, plugin: plugin, bindings: bindings, end: end(last), order: last)
    }

    mutating func remove(_ order: Int) {
        entries[order] = nil
    }
}

import Backplane

/// The generations in memory, with the memory that each uses and the reasons why it is retained.
struct GenerationReport {
    let stopper: Stopper
    /// The change in progress.
    let swap: Change?
    private var live: LiveComposition { stopper.live }
    private var instances: Instances { stopper.instances }

    /// Returns every generation of a plugin, or of all plugins, that is in memory.
    func generations(of name: String?) throws(BackplaneError) -> [Generation] {
        let id: String? = if let name { try pluginID(name) } else { nil }
        let entries = live.generations.entries(of: id) ?? []
        let memory = (try? MappedMemory.of(Set(entries.compactMap(\.image?.copy)))) ?? [:]
        return entries.map { entry in
            var generation = Generation(
                plugin: entry.plugin, number: entry.number, version: entry.version, library: entry.library,
                state: entry.state, loadedAt: entry.loadedAt)
            if let memory = entry.image.flatMap({ memory[$0.copy] }) {
                (generation.dirtyBytes, generation.mappedBytes) = (memory.dirty, memory.mapped)
            }
            generation.heldBy = holders(of: entry)
            generation.canReturn = entry.canReturn
            return generation
        }
    }

    private func pluginID(_ name: String) throws(BackplaneError) -> String {
        if live.generations.ids.contains(name) { return name }
        return live.loaded.plugins[try live.loaded.place(ofPlugin: name)].description.id
    }

    /// Returns the reason why a component without calls and streams has not ended.
    private func stopping(_ component: RunningComponent) -> String {
        switch instances.graphs.count(of: component.handle) {
        case 0: "\(component.name), which is stopping"
        case 1: "1 graph of \(component.name) that has not ended"
        case let graphs: "\(graphs) graphs of \(component.name) that have not ended"
        }
    }

    /// Returns the reasons why a generation remains in memory: its users or, without any, that nothing is ever
    /// unloaded.
    private func holders(of entry: GenerationTable.Entry) -> [String] {
        var holders: [String] = []
        let generations = live.generations
        let current = live.loaded.plugins.firstIndex {
            generations.entry(of: $0)?.number == entry.number && $0.description.id == entry.plugin
        }
        if let current {
            let up = live.nodes.filter { $0.running != nil && $0.node.entry.order == current }.map(\.node.name)
            holders.append(up.isEmpty ? "the active manifest" : "active: \(up.joined(separator: ", "))")
        }
        for retirement in stopper.retirementsUnderWay
        where generations.entry(of: retirement.plugin)?.number == entry.number
            && retirement.plugin.description.id == entry.plugin
        {
            let name = retirement.component.name
            switch retirement.callsInFlight {
            case 0:
                switch retirement.component.streams.count {
                case 0: holders.append(stopping(retirement.component))
                case 1: holders.append("1 stream of \(name) whose body has not returned")
                case let streams: holders.append("\(streams) streams of \(name) whose bodies have not returned")
                }
            case 1: holders.append("1 call in \(name) that has not ended")
            case let calls: holders.append("\(calls) calls in \(name) that have not ended")
            }
        }
        for creation in instances.unfinished.all
        where
            generations.entry(of: creation.plugin)?.number == entry.number
            && creation.plugin.description.id == entry.plugin
        {
            holders.append(
                "the `init` of \(creation.component), which has not returned since \(creation.began.localTime); "
                    + "only a restart of the host's program ends it")
        }
        if let swap, let calls = swap.callsWaitedFor, swap.isSwappingIn(entry) {
            holders.append("a swap that waits for long calls: \(calls)")
        }
        if entry.canReturn { holders.append("kept for a rollback") }
        if entry.isOverdue {
            holders.append("its load, which did not end within its limit; only a restart of the host's program ends it")
        }
        if holders.isEmpty, entry.image != nil { holders.append("Swift's runtime, which cannot unload a library") }
        return holders
    }
}

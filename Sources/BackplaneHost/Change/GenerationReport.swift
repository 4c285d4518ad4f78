import Backplane

/// The generations in memory, with the memory that each uses and the reasons why it is retained.
extension Stopper {
    /// Returns every generation of a plugin, or of all plugins, that is in memory.
    func generations(of name: String?, during swap: Change?) throws(BackplaneError) -> [Generation] {
        let id: String? = if let name { try pluginID(name) } else { nil }
        let entries = live.generations.entries(of: id) ?? []
        let memory = (try? MappedMemory.of(Set(entries.compactMap(\.copy)))) ?? [:]
        return entries.map { entry in
            var generation = entry.generation
            if let memory = entry.copy.flatMap({ memory[$0] }) {
                (generation.dirtyBytes, generation.mappedBytes) = (memory.dirty, memory.mapped)
            }
            generation.heldBy = holders(of: entry, during: swap)
            generation.canReturn = entry.canReturn
            return generation
        }
    }

    private func pluginID(_ name: String) throws(BackplaneError) -> String {
        if live.generations.ids.contains(name) { return name }
        return live.loaded.plugins[try live.loaded.place(ofPlugin: name)].description.id
    }

    /// Returns the reason why a replaced instance has not ended.
    private func reason(_ retirement: Retirement) -> String {
        let component = retirement.component, name = component.name
        let graphs = instances.graphs.count(of: component.handle)
        return switch (retirement.callsInFlight, component.streams.count, graphs) {
        case (0, 0, 0): "\(name), which is stopping"
        case (0, 0, 1): "1 graph of \(name) that has not ended"
        case (0, 0, _): "\(graphs) graphs of \(name) that have not ended"
        case (0, 1, _): "1 stream of \(name) whose body has not returned"
        case (0, let streams, _): "\(streams) streams of \(name) whose bodies have not returned"
        case (1, _, _): "1 call in \(name) that has not ended"
        case (let calls, _, _): "\(calls) calls in \(name) that have not ended"
        }
    }

    /// Returns the reasons why a generation remains in memory: its users or, if it has none, that nothing is ever
    /// unloaded.
    private func holders(of entry: GenerationTable.Entry, during swap: Change?) -> [String] {
        var holders: [String] = []
        func isEntry(_ plugin: LoadedPlugin) -> Bool {
            plugin.description.id == entry.plugin && live.generations.entry(of: plugin)?.number == entry.number
        }
        if let current = live.loaded.plugins.firstIndex(where: isEntry) {
            let up = live.nodes.filter { $0.running != nil && $0.node.entry.order == current }.map(\.node.name)
            holders.append(up.isEmpty ? "the active manifest" : "active: \(up.joined(separator: ", "))")
        }
        holders += retirementsUnderWay.filter { isEntry($0.component.plugin) }.map(reason)
        for creation in instances.unfinished.all where isEntry(creation.plugin) {
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
        if holders.isEmpty, entry.copy != nil { holders.append("Swift's runtime, which cannot unload a library") }
        return holders
    }
}

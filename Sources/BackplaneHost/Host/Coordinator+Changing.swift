import Backplane

extension Coordinator {
    /// What may be done to a host that runs.
    enum Change: Sendable {
        /// Puts another manifest in force: what it changes is stopped, started or made anew, everything else goes on.
        case apply(ManifestDocument)
        /// Makes a manager anew, and what only it uses; `nil`: all that are up.
        case reset(String?)
    }

    /// Makes a change, after those that were asked for before.
    ///
    /// - Throws: what is wrong with it, nothing having changed; or why some did not start, the rest being as it says.
    func make(_ change: Change) async throws(BackplaneError) -> ManifestChange {
        await turns.take()
        defer { turns.end() }
        try live.requireRunning()
        let old = live.loaded
        switch change {
        case .apply(let document):
            let new = live.load(document)
            do throws(BackplaneError) {
                try new.requireSound()
            } catch {
                if old.loadFolder == nil { new.loadFolder?.remove() }
                throw error
            }
            return try await go(to: new, old.change(to: new)) { expectedManagers }
        case .reset(nil):
            let everything = Set(old.plan.nodes.map(\.id))
            return try await go(to: old, PlanChange(resetting: everything, of: old.plan)) { expectedManagers }
        case .reset(let manager?):
            let node = try old.node(ofManager: manager)
            let layers = old.plan.layers(of: node).filter { $0.managers == [manager] }
            // Who could not start for want of it can now, perhaps.
            return try await go(to: old, PlanChange(resetting: Set([node.id] + layers.map(\.id)), of: old.plan)) {
                expectedManagers.intersection(old.plan.managers(needing: node)).union([manager])
            }
        }
    }

    /// Those that are up unless something is wrong with them.
    private var expectedManagers: Set<String> {
        startup.hasStartedAll ? owed.union(live.loaded.eagerNames) : owed
    }

    /// - Parameter managers: those to start though they were not up, asked for when what leaves has stopped.
    private func go(
        to new: LoadedManifest, _ change: PlanChange, starting managers: () -> Set<String>
    ) async throws(BackplaneError) -> ManifestChange {
        let leaving = change.removed.map { live.nodes[$0] }
        // What starts may look others up, so it has to come to its end before nothing can be looked up.
        while let start = leaving.lazy.compactMap(\.startUnderWay).first { _ = await start.value }
        try live.requireRunning()
        let before = upManagers
        for node in leaving { node.leaves = true }
        let standstill = Task {
            await shutdown.stop(leaving, for: new.plan)
            live.putInForce(new, keeping: change.kept)
            live.pause = nil
        }
        live.pause = standstill
        await standstill.value
        try live.requireRunning()

        let errors = await startup.start(before.union(managers()).sorted())
        try live.requireRunning()
        let after = upManagers
        owed = owed.union(before).subtracting(after).filter { new.plan.managers[$0] != nil }
        if !errors.isEmpty { throw .combining(errors, of: "the change", at: new.document.path) }
        return ManifestChange(before: before, after: after, remade: Set(leaving.lazy.map(\.node).filter { $0.role == .manager }.map(\.name)))
    }

    private var upManagers: Set<String> {
        Set(live.nodes.lazy.filter { $0.node.role == .manager && $0.running != nil }.map(\.node.name))
    }
}

extension Plan {
    /// Those that cannot do without a node, however far they are from it.
    fileprivate func managers(needing node: Node) -> Set<String> {
        var needing = Set([node.id])
        for other in nodes where other.wires.contains(where: { needing.contains($0.provider) }) { needing.insert(other.id) }
        return Set(needing.lazy.map { nodes[$0] }.filter { $0.role == .manager }.map(\.name))
    }
}

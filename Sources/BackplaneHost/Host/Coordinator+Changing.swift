import Backplane

extension Coordinator {
    /// A change of a running host.
    enum Change: Sendable {
        /// The activation of another manifest, which stops, starts, recreates or reconfigures only what it changes.
        ///
        /// The options about losses and trusted libraries apply, and no others.
        case apply(ManifestDocument, SwapOptions)
        /// The recreation of a manager and the components that only it uses, or with `nil` of all that are up.
        case reset(String?)
    }

    /// Makes a change, after those that were requested before.
    ///
    /// - Throws: The errors that prevent the change, or later those of the managers that did not start.
    func make(_ change: Change) async throws(BackplaneError) -> ManifestChange {
        let asked = Deadline.now
        await turns.take()
        defer { turns.end() }
        try live.requireRunning()
        let old = live.loaded
        switch change {
        case .apply(let document, let options):
            let new = live.load(document, trust: options.trustsLibraries)
            let change = old.change(to: new)
            let configurations = Reconfiguration(
                change.reconfigured, keeping: change.kept, to: new.plan, live, starter)
            do throws(BackplaneError) {
                try new.requireSound()
                try requireNoRestart(for: document)
                if touchesState(change) || renamesManagers(for: new) {
                    return try await carryState(to: new, options, asked: asked)
                }
                if !options.discardsState {
                    let errors = await instances.dataLeftBehind(from: old, to: new)
                    if !errors.isEmpty { throw .combining(errors, of: "the manifest", at: document.path) }
                }
                if !options.allowsMissingMethods { try requireMethods(of: new, change) }
                try await configurations.perform()
            } catch {
                if old.loadFolder == nil { new.loadFolder?.remove() }
                throw error
            }
            follow(document.manifest)
            // Only a swap to the manifest before knows the code that belongs to it.
            manifestHistory = ManifestHistory()
            return try await go(to: new, change, configurations) { expectedManagers }
        case .reset(nil):
            let everything = Set(old.plan.nodes.map(\.id))
            return try await go(to: old, PlanChange(resetting: everything, of: old.plan)) { expectedManagers }
        case .reset(let manager?):
            let node = try old.node(ofManager: manager)
            let layers = old.plan.layers(of: node).filter { $0.managers == [manager] }
            // Managers that failed to start for want of this one may be able to start now.
            return try await go(to: old, PlanChange(resetting: Set([node.id] + layers.map(\.id)), of: old.plan)) {
                expectedManagers.intersection(old.plan.managers(needing: node)).union([manager])
            }
        }
    }

    /// Activates a manifest as a swap without libraries, which carries state over or changes nothing.
    private func carryState(to new: LoadedManifest, _ options: SwapOptions, asked: Deadline)
        async throws(BackplaneError) -> ManifestChange
    {
        let report: SwapReport
        do throws(BackplaneError) {
            report = try await swap(to: SwapTarget(manifest: new, replacements: []), options, asked: asked)
        } catch {
            guard error.code == .swapRefused, !error.causes.isEmpty else { throw error }
            throw .combining(error.causes, of: "the manifest", at: new.document.path)
        }
        return report.managers ?? ManifestChange(before: live.managersUp, after: live.managersUp, remade: [])
    }

    /// Returns whether a change ends instances that have state, which only a swap carries over.
    private func touchesState(_ change: PlanChange) -> Bool {
        change.removed.contains { place in
            let node = live.nodes[place]
            return node.running != nil && node.node.entry.component.state != nil
        }
    }

    /// Returns whether another manifest continues a manager under another name, which its callers keep only in a swap.
    private func renamesManagers(for new: LoadedManifest) -> Bool {
        let old = live.loaded.plan, before = Succession(from: old, to: new.plan).before
        return new.plan.nodes.contains { node in
            guard node.role == .manager, let place = before[node.id] else { return false }
            return old.nodes[place].name != node.name && live.nodes[place].running != nil
        }
    }

    /// Checks that no caller loses a method that it uses.
    private func requireMethods(of new: LoadedManifest, _ change: PlanChange) throws(BackplaneError) {
        let successors = Succession(from: live.loaded.plan, to: new.plan).after
        let leaving = change.removed.map { live.nodes[$0] }
        let changes = leaving.compactMap { node in
            successors[node.node.id].map { RemovingChange(gate: node.gate, old: node.node, new: new.plan.nodes[$0]) }
        }
        let errors = live.removals(in: new, changes, leaving: Set(leaving.map(\.id)))
        if !errors.isEmpty { throw .combining(errors, of: "the manifest", at: new.document.path) }
    }

    /// The managers that are up unless they have failed.
    private var expectedManagers: Set<String> {
        startup.hasStartedAll ? owed.union(live.loaded.eagerNames) : owed
    }

    /// Stops, starts and recreates components so that a manifest becomes active.
    ///
    /// - Parameters:
    ///   - configurations: The new configurations of instances that stay.
    ///   - managers: A function that returns further managers to start, called once the leaving components have
    ///     stopped.
    private func go(
        to new: LoadedManifest, _ change: PlanChange, _ configurations: Reconfiguration? = nil,
        starting managers: () -> Set<String>
    ) async throws(BackplaneError) -> ManifestChange {
        let leaving = change.removed.map { live.nodes[$0] }
        // A component that is starting may look up others, so it has to finish before look-ups are held.
        while let start = leaving.lazy.compactMap(\.startUnderWay).first { _ = await start.value }
        try live.requireRunning()
        let before = live.managersUp
        for node in leaving { node.leaves = true }
        let standstill = Task {
            await shutdown.stop(leaving, for: new.plan)
            live.putInForce(new, keeping: change.kept)
            live.pause = nil
        }
        live.pause = standstill
        await standstill.value
        try live.requireRunning()

        let refusals = await configurations?.finish() ?? []
        let errors = refusals + (await startup.start(before.union(managers()).sorted()))
        try live.requireRunning()
        let after = live.managersUp
        owed = owed.union(before).subtracting(after).filter { new.plan.managers[$0] != nil }
        if !errors.isEmpty { throw .combining(errors, of: "the change", at: new.document.path) }
        return ManifestChange(
            before: before, after: after,
            remade: Set(leaving.lazy.map(\.node).filter { $0.role == .manager }.map(\.name)),
            reconfigured: Set(
                change.reconfigured.compactMap { change.kept[$0] }.flatMap { new.plan.nodes[$0].managers }))
    }
}

extension Plan {
    /// Returns the managers that depend on a node, directly or indirectly.
    fileprivate func managers(needing node: Node) -> Set<String> {
        var needing = Set([node.id])
        for other in nodes where other.wires.contains(where: { needing.contains($0.provider) }) {
            needing.insert(other.id)
        }
        return Set(needing.lazy.map { nodes[$0] }.filter { $0.role == .manager }.map(\.name))
    }
}

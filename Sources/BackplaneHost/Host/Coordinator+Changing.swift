import Backplane

extension Coordinator {
    /// A change of a running host.
    enum Change: Sendable {
        /// The activation of another manifest, which stops, starts or recreates only what it changes.
        ///
        /// Its libraries are opened in a child process first, unless they are trusted.
        case apply(ManifestDocument, trust: Bool)
        /// The recreation of a manager and the components that only it uses, or with `nil` of all that are up.
        case reset(String?)
    }

    /// Makes a change, after those that were requested before.
    ///
    /// - Throws: The errors that prevent the change, or later those of the managers that did not start.
    func make(_ change: Change) async throws(BackplaneError) -> ManifestChange {
        await turns.take()
        defer { turns.end() }
        try live.requireRunning()
        let old = live.loaded
        switch change {
        case .apply(let document, let trust):
            let new = live.load(document, trust: trust)
            do throws(BackplaneError) {
                try new.requireSound()
                try requireNoRestart(for: document)
            } catch {
                if old.loadFolder == nil { new.loadFolder?.remove() }
                throw error
            }
            follow(document.manifest)
            return try await go(to: new, old.change(to: new)) { expectedManagers }
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

    /// The managers that are up unless something is wrong with them.
    private var expectedManagers: Set<String> {
        startup.hasStartedAll ? owed.union(live.loaded.eagerNames) : owed
    }

    /// Stops, starts and recreates components so that a manifest becomes active.
    ///
    /// - Parameter managers: A function that returns further managers to start; called when the leaving components have
    ///   stopped.
    private func go(
        to new: LoadedManifest, _ change: PlanChange, starting managers: () -> Set<String>
    ) async throws(BackplaneError) -> ManifestChange {
        let leaving = change.removed.map { live.nodes[$0] }
        // A component that is starting may look up others, so it has to finish before look-ups are held.
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
        return ManifestChange(
            before: before, after: after,
            remade: Set(leaving.lazy.map(\.node).filter { $0.role == .manager }.map(\.name)))
    }

    private var upManagers: Set<String> {
        Set(live.nodes.lazy.filter { $0.node.role == .manager && $0.running != nil }.map(\.node.name))
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

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
        let before = lastChange
        let task = Task { () -> Result<ManifestChange, BackplaneError> in
            await before?.value
            do throws(BackplaneError) {
                return .success(try await makeNow(change))
            } catch {
                return .failure(error)
            }
        }
        lastChange = Task { _ = await task.value }
        return try await task.value.get()
    }

    private func makeNow(_ change: Change) async throws(BackplaneError) -> ManifestChange {
        try requireRunning()
        let old = loaded
        switch change {
        case .apply(let document):
            let new = load(document)
            try new.requireSound()
            return try await go(to: new, old.change(to: new), starting: hasStartedAll ? new.eagerNames : [])
        case .reset(nil):
            let everything = Set(old.plan.nodes.map(\.id))
            return try await go(to: old, PlanChange(resetting: everything, of: old.plan), starting: hasStartedAll ? old.eagerNames : [])
        case .reset(let manager?):
            let node = try old.node(ofManager: manager)
            let layers = old.plan.layers(of: node).filter { $0.managers == [manager] }
            // Who could not start for want of it can now, perhaps.
            let users = hasStartedAll ? old.eagerNames.filter { isDown($0, in: old.plan) && old.plan.needs($0, node) } : []
            return try await go(to: old, PlanChange(resetting: Set([node.id] + layers.map(\.id)), of: old.plan), starting: users + [manager])
        }
    }

    private func isDown(_ manager: String, in plan: Plan) -> Bool {
        plan.managers[manager].map { nodes[$0].running == nil } ?? false
    }

    /// - Parameter managers: those to start though they were not up.
    private func go(
        to new: LoadedManifest, _ change: PlanChange, starting managers: [String]
    ) async throws(BackplaneError) -> ManifestChange {
        let leaving = change.removed.map { nodes[$0] }
        // What starts may look others up, so it has to come to its end before nothing can be looked up.
        while let start = leaving.lazy.compactMap(\.startUnderWay).first { _ = await start.value }
        let before = upManagers
        let swap = Task {
            await stop(leaving, for: new.plan)
            putInForce(new, keeping: change.kept)
            pause = nil
        }
        pause = swap
        await swap.value
        try requireRunning()

        let wanted = before.union(managers)
        let errors = await start(new.plan.managers.filter { wanted.contains($0.key) }.map { nodes[$0.value] })
        try requireRunning()
        if !errors.isEmpty { throw .combining(errors, of: "the change", at: new.document.path) }
        return ManifestChange(before: before, after: upManagers, remade: Set(leaving.map(\.node.name)))
    }

    private var upManagers: Set<String> {
        Set(nodes.lazy.filter { $0.node.role == .manager && $0.running != nil }.map(\.node.name))
    }
}

extension Plan {
    fileprivate func needs(_ manager: String, _ node: Node) -> Bool {
        (try? nodes(neededBy: manager).contains { $0.id == node.id }) ?? false
    }
}

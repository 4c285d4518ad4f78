import Backplane

extension Coordinator {
    /// A change of a running host.
    enum Change: Sendable {
        /// The activation of another manifest, which stops, starts, recreates or reconfigures only what it changes.
        ///
        /// Only the options for losses and trusted libraries apply.
        case apply(ManifestDocument, SwapOptions)
        /// The recreation of a manager and the components that only it uses, or, with `nil`, of all running components.
        case reset(String?)
    }

    /// Makes a change, after the changes that were requested earlier.
    ///
    /// - Throws: The errors that prevent the change, or later those of the managers that did not start.
    func make(_ change: Change) async throws(BackplaneError) -> ManifestChange {
        let asked = clock.moment
        await turns.take()
        defer { turns.end() }
        try live.requireRunning()
        switch change {
        case .apply(let document, let options): return try await apply(document, options, asked: asked)
        case .reset(let manager): return try await changes.reset(manager)
        }
    }

    private func apply(_ document: ManifestDocument, _ options: SwapOptions, asked: Deadline)
        async throws(BackplaneError) -> ManifestChange
    {
        let old = live.loaded, new = try await live.load(document, trust: options.trustsLibraries)
        let change = old.change(to: new)
        let configurations = Reconfiguration(change.reconfigured, keeping: change.kept, to: new.plan, live, starter)
        do throws(BackplaneError) {
            try new.requireSound()
            try requireNoRestart(for: document)
            if changes.needsSwap(to: new, change) { return try await carryState(to: new, options, asked: asked) }
            try await changes.prepare(
                new, change, configurations, losesData: options.discardsState,
                losesMethods: options.allowsMissingMethods)
        } catch {
            SwapTarget(manifest: new, replacements: []).abandon(in: live)
            throw error
        }
        follow(document.manifest)
        // Only a swap to the manifest before knows the code that belongs to it.
        manifestHistory = ManifestHistory()
        return try await changes.activate(new, change, configurations)
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
}

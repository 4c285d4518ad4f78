import Backplane
import BackplaneBoundary

extension Coordinator {
    /// Activates new builds of plugins and, if specified, another manifest: either all of them or none.
    func swap(
        _ libraries: [String], applying document: ManifestDocument?, _ options: SwapOptions,
        progress report: SwapProgressReport?
    ) async throws(BackplaneError) -> SwapReport {
        let asked = clock.moment
        await turns.take()
        defer { turns.end() }
        try live.requireRunning()
        let target = try await target(libraries, applying: document, options)
        guard target.changes(live.loaded) else { return SwapReport(.unchanged) }
        return try await swap(to: target, options, asked: asked, progress: report)
    }

    /// Activates plugins that are linked into this program and, if specified, another manifest.
    func swap(
        linked: [LinkedPlugin], applying document: ManifestDocument? = nil, _ options: SwapOptions,
        progress report: SwapProgressReport? = nil
    ) async throws(BackplaneError) -> SwapReport {
        let asked = clock.moment
        await turns.take()
        defer { turns.end() }
        try live.requireRunning()
        var target = try await target([], applying: document, options, needsLibraries: false)
        for plugin in linked { target.replacements.append(try replacements.describe(plugin)) }
        return try await swap(to: target, options, asked: asked, progress: report)
    }

    /// Reactivates an older generation of a plugin, and the manifest that a swap replaced together with it.
    func rollback(_ plugin: String, to number: Int?, _ options: SwapOptions, progress report: SwapProgressReport?)
        async throws(BackplaneError) -> SwapReport
    {
        let asked = clock.moment
        await turns.take()
        defer { turns.end() }
        try live.requireRunning()
        return try await swap(
            to: try replacements.earlier(plugin, number, manifestHistory), options, asked: asked, progress: report)
    }

    func preview(_ libraries: [String], applying document: ManifestDocument?, _ options: SwapOptions)
        async throws(BackplaneError) -> SwapPreview
    {
        let isTurn = await turns.takeLook(isOnProbation: swapUnderWay?.machine.isOnProbation ?? false)
        defer { if isTurn { turns.end() } }
        try live.requireRunning()
        let target = try await target(libraries, applying: document, options)
        defer { target.wasPreviewed(in: live) }
        return try await draft(target, options, asked: clock.moment).preview
    }

    /// Activates a manifest and plugins, or leaves everything unchanged.
    func swap(
        to target: SwapTarget, _ options: SwapOptions, asked: Deadline, progress report: SwapProgressReport? = nil
    ) async throws(BackplaneError) -> SwapReport {
        let before = live.loaded, swap: SwapTransaction
        do throws(BackplaneError) {
            swap = try await draft(target, options, asked: asked)
            if let error = BackplaneError.combining(refusals: swap.refusals) { throw error }
        } catch {
            target.abandon(in: live)
            throw error
        }
        swap.reportProgress = report
        swapUnderWay = swap
        defer { swapUnderWay = nil }
        // A new component's first use of its services follows its own manifest.
        if swap.isOfAnotherManifest { follow(swap.after.document.manifest) }
        let result: SwapReport
        do throws(BackplaneError) { result = try await swap.perform() } catch {
            follow(before.document.manifest)
            target.abandon(in: live)
            throw error
        }
        if result.outcome == .rolledBack {
            follow(before.document.manifest)
        } else if swap.isOfAnotherManifest {
            changes.forgetRemovedManagers()
            manifestHistory.add(from: before, to: swap.after)
        }
        return result
    }

    /// Loads the plugins and the manifest that a swap is to activate.
    private func target(
        _ libraries: [String], applying document: ManifestDocument?, _ options: SwapOptions,
        needsLibraries: Bool = true
    ) async throws(BackplaneError) -> SwapTarget {
        guard let document else {
            return try await replacements.target(libraries, options, needsLibraries: needsLibraries)
        }
        _ = try document.soundManifest
        try requireNoRestart(for: document)
        return try await replacements.target(libraries, applying: document, options)
    }

    private func draft(_ target: SwapTarget, _ options: SwapOptions, asked: Deadline)
        async throws(BackplaneError) -> SwapTransaction
    {
        let surroundings = SwapSurroundings(
            startup: startup, shutdown: shutdown, retirements: retirements, turns: turns, options: self.options.swapping
        )
        return try await SwapTransaction.draft(target, options, asked: asked, in: surroundings)
    }
}

import Backplane
import BackplaneBoundary

extension Coordinator {
    /// Activates new builds of plugins, and another manifest if one is given: all of them, or none.
    func swap(
        _ libraries: [String], applying document: ManifestDocument?, _ options: SwapOptions,
        progress report: SwapProgressReport?
    ) async throws(BackplaneError) -> SwapReport {
        let asked = Deadline.now
        await turns.take()
        defer { turns.end() }
        try live.requireRunning()
        let target = try await target(libraries, applying: document, options)
        guard changes(target) else { return SwapReport(.unchanged) }
        return try await swap(to: target, options, asked: asked, progress: report)
    }

    /// Activates plugins that are linked into this program, and another manifest if one is given.
    func swap(
        linked: [LinkedPlugin], applying document: ManifestDocument? = nil, _ options: SwapOptions,
        progress report: SwapProgressReport? = nil
    ) async throws(BackplaneError) -> SwapReport {
        let asked = Deadline.now
        await turns.take()
        defer { turns.end() }
        try live.requireRunning()
        var target = try await target([], applying: document, options, needsLibraries: false)
        for plugin in linked { target.replacements.append(try replacements.describe(plugin)) }
        return try await swap(to: target, options, asked: asked, progress: report)
    }

    /// Activates an older generation of a plugin again, and the manifest that a swap replaced together with it.
    func rollback(_ plugin: String, to number: Int?, _ options: SwapOptions, progress report: SwapProgressReport?)
        async throws(BackplaneError) -> SwapReport
    {
        let asked = Deadline.now
        await turns.take()
        defer { turns.end() }
        try live.requireRunning()
        return try await swap(to: try earlier(plugin, number), options, asked: asked, progress: report)
    }

    func preview(_ libraries: [String], applying document: ManifestDocument?, _ options: SwapOptions)
        async throws(BackplaneError) -> SwapPreview
    {
        let isTurn = await turns.takeLook(isOnProbation: swapUnderWay?.machine.isOnProbation ?? false)
        defer { if isTurn { turns.end() } }
        try live.requireRunning()
        let target = try await target(libraries, applying: document, options)
        defer { live.giveRoomBack(of: newPlugins(of: target)) }
        return try await draft(target, options, asked: .now).preview
    }

    /// Activates a manifest and plugins, or leaves everything as it was.
    func swap(
        to target: SwapTarget, _ options: SwapOptions, asked: Deadline, progress report: SwapProgressReport? = nil
    ) async throws(BackplaneError) -> SwapReport {
        let before = live.loaded, swap: SwapTransaction
        do throws(BackplaneError) {
            swap = try await draft(target, options, asked: asked)
            if let error = BackplaneError.combining(refusals: swap.refusals) { throw error }
        } catch {
            abandon(target)
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
            abandon(target)
            throw error
        }
        if result.outcome == .rolledBack {
            follow(before.document.manifest)
        } else if swap.isOfAnotherManifest {
            owed.formIntersection(swap.after.plan.managers.keys)
            manifestHistory.add(from: before, to: swap.after)
        }
        return result
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

// MARK: Targets

extension Coordinator {
    /// Loads the manifest and the libraries that a swap is to activate.
    ///
    /// - Throws: The errors of the manifest itself, or the reason why a library cannot be loaded or replaces no plugin.
    private func target(
        _ libraries: [String], applying document: ManifestDocument?, _ options: SwapOptions,
        needsLibraries: Bool = true
    ) async throws(BackplaneError) -> SwapTarget {
        guard let document else {
            if needsLibraries, libraries.isEmpty {
                throw BackplaneError(.swapRefused, "name at least one library to swap, or a manifest to activate")
            }
            return SwapTarget(
                replacements: try await replacements.load(libraries, among: live.loaded, options))
        }
        let errors = document.problems.errors
        if !errors.isEmpty { throw .combining(errors, of: "the manifest", at: document.path) }
        try requireNoRestart(for: document)
        // The active manifest is loaded first, so that libraries of both are loaded once.
        _ = live.loaded
        if !libraries.isEmpty { _ = try live.requireLoadFolder() }
        var target = SwapTarget(manifest: live.load(document, trust: options.trustsLibraries), replacements: [])
        live.generations.add(newPlugins(of: target), .loaded)
        do throws(BackplaneError) {
            guard let manifest = target.manifest else { return target }
            target.replacements = try await replacements.load(libraries, among: manifest, options)
        } catch {
            abandon(target)
            throw error
        }
        return target
    }

    /// Returns an older generation of a plugin, and the manifest that a swap replaced together with it.
    private func earlier(_ plugin: String, _ number: Int?) throws(BackplaneError) -> SwapTarget {
        let active = live.loaded
        let older = Result { () throws(BackplaneError) in try replacements.older(plugin, number) }
        switch older {
        case .success(let older):
            let id = older.plugin.description.id
            if let manifest = manifestHistory.manifest(before: active, of: id, at: older.plugin.key) {
                return SwapTarget(manifest: manifest, replacements: [])
            }
            return SwapTarget(replacements: [older])
        case .failure(let error):
            let id = (try? active.place(ofPlugin: plugin)).map { active.plugins[$0].description.id } ?? plugin
            // A plugin that the last manifest added or dropped has no older generation in it.
            guard number == nil, let manifest = manifestHistory.manifest(before: active, of: id, at: nil),
                manifest.plugins.contains(where: { $0.description.id == id })
                    != active.plugins.contains(where: { $0.description.id == id })
            else { throw error }
            return SwapTarget(manifest: manifest, replacements: [])
        }
    }

    /// Returns whether a swap would change anything at all.
    private func changes(_ target: SwapTarget) -> Bool {
        guard target.replacements.isEmpty, let manifest = target.manifest else { return !target.replacements.isEmpty }
        let active = live.loaded
        return manifest.document.manifest != active.document.manifest || !manifest.plugins(besides: active).isEmpty
            || !active.plugins(besides: manifest).isEmpty
    }

    /// Returns the plugins of a target that are not active.
    private func newPlugins(of target: SwapTarget) -> [LoadedPlugin] {
        (target.manifest?.plugins(besides: live.loaded) ?? []) + target.replacements.map(\.plugin)
    }

    /// Records that the plugins loaded for a swap do not become active.
    private func abandon(_ target: SwapTarget) {
        live.takeOut(newPlugins(of: target))
        if live.loadFolder == nil { target.manifest?.loadFolder?.remove() }
    }
}

extension BackplaneError {
    /// Returns one error for all reasons against a swap, or `nil` if there is none.
    fileprivate static func combining(refusals: [BackplaneError]) -> BackplaneError? {
        guard let first = refusals.first else { return nil }
        let rest = refusals.count == 1 ? "" : " (and \(refusals.count - 1) more)"
        return BackplaneError(
            .swapRefused, "the swap was refused, and nothing was changed: \(first.message)\(rest)", at: first.location,
            causes: refusals)
    }
}

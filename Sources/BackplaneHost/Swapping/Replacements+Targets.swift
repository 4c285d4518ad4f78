import Backplane
import BackplaneBoundary

/// The targets of swaps.
extension Replacements {
    /// Loads libraries that replace plugins of the active manifest.
    ///
    /// - Parameter needsLibraries: Whether it is an error not to name any.
    /// - Throws: The reason why a library cannot be loaded or replaces no plugin.
    func target(_ libraries: [String], _ options: SwapOptions, needsLibraries: Bool)
        async throws(BackplaneError) -> SwapTarget
    {
        if needsLibraries, libraries.isEmpty {
            throw BackplaneError(.swapRefused, "specify at least one library to swap, or a manifest to activate")
        }
        return SwapTarget(replacements: try await load(libraries, among: live.loaded, options))
    }

    /// Loads another manifest, and libraries that replace plugins in it.
    ///
    /// - Throws: The reason why a library cannot be loaded or replaces no plugin.
    func target(_ libraries: [String], applying document: ManifestDocument, _ options: SwapOptions)
        async throws(BackplaneError) -> SwapTarget
    {
        // The active manifest is loaded first, so that libraries of both are loaded once.
        _ = live.loaded
        if !libraries.isEmpty { _ = try live.requireLoadFolder() }
        let manifest = try await live.load(document, trust: options.trustsLibraries)
        var target = SwapTarget(manifest: manifest, replacements: [])
        do throws(BackplaneError) {
            target.replacements = try await load(libraries, among: manifest, options)
        } catch {
            target.abandon(in: live)
            throw error
        }
        return target
    }

    /// Returns an older generation of a plugin, and the manifest that a swap replaced together with it.
    ///
    /// - Parameters:
    ///   - number: The generation, or `nil` for the last committed one that has not since failed.
    ///   - history: The manifests that swaps have replaced.
    func earlier(_ plugin: String, _ number: Int?, _ history: ManifestHistory) throws(BackplaneError) -> SwapTarget {
        let active = live.loaded
        let older = Result { () throws(BackplaneError) in try self.older(plugin, number) }
        switch older {
        case .success(let older):
            let id = older.plugin.description.id
            if let manifest = history.manifest(before: active, of: id, at: older.plugin.key) {
                return SwapTarget(manifest: manifest, replacements: [])
            }
            return SwapTarget(replacements: [older])
        case .failure(let error):
            let id = (try? active.place(ofPlugin: plugin)).map { active.plugins[$0].description.id } ?? plugin
            // A plugin that the last manifest added or dropped has no older generation in it.
            guard number == nil, let manifest = history.manifest(before: active, of: id, at: nil),
                manifest.plugins.contains(where: { $0.description.id == id })
                    != active.plugins.contains(where: { $0.description.id == id })
            else { throw error }
            return SwapTarget(manifest: manifest, replacements: [])
        }
    }
}

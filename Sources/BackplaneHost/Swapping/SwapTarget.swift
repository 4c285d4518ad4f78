import Backplane
import BackplaneBoundary

/// The manifest and the plugins that a swap activates.
struct SwapTarget {
    /// The manifest with the plugins that were loaded for it, or `nil` for the active one.
    var manifest: LoadedManifest?
    /// The plugins that replace others in that manifest.
    var replacements: [Replacement]

    /// The libraries as named by the caller, keyed by their plugins' keys.
    var libraries: [String: String] {
        Dictionary(replacements.map { ($0.plugin.key, $0.library) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the manifest with its plugins.
    ///
    /// - Parameter active: The active manifest, which may have changed since the plugins were loaded.
    /// - Throws: `swap.refused` if a plugin no longer has a place in it.
    func manifest(replacing active: LoadedManifest, in folder: LoadFolder?) throws(BackplaneError) -> LoadedManifest {
        let base = manifest ?? active
        for replacement in replacements {
            guard base.plugins.indices.contains(replacement.place),
                base.plugins[replacement.place].description.id == replacement.plugin.description.id
            else {
                throw BackplaneError(
                    .swapRefused, "another manifest was activated in the meantime; try again",
                    at: replacement.plugin.path)
            }
        }
        return base.replacing(
            Dictionary(uniqueKeysWithValues: replacements.map { ($0.place, $0.plugin) }),
            // The manifest may have brought a folder to a host that had none.
            in: folder ?? base.loadFolder)
    }

    /// Returns whether a swap would change anything.
    func changes(_ active: LoadedManifest) -> Bool {
        guard replacements.isEmpty, let manifest else { return !replacements.isEmpty }
        return manifest.document.manifest != active.document.manifest || !manifest.plugins(besides: active).isEmpty
            || !active.plugins(besides: manifest).isEmpty
    }

    /// Returns the plugins that are not active.
    func plugins(besides active: LoadedManifest) -> [LoadedPlugin] {
        (manifest?.plugins(besides: active) ?? []) + replacements.map(\.plugin)
    }

    /// Records that the plugins loaded for the swap do not become active.
    func abandon(in live: LiveComposition) {
        live.takeOut(plugins(besides: live.loaded))
        removeFolder(in: live)
    }

    /// Gives back what the libraries of a previewed target need only when they run.
    func wasPreviewed(in live: LiveComposition) {
        live.giveRoomBack(of: plugins(besides: live.loaded))
        removeFolder(in: live)
    }

    /// Removes the load folder that was created for the target, if the host has none.
    private func removeFolder(in live: LiveComposition) {
        if live.loadFolder == nil { manifest?.loadFolder?.remove() }
    }
}

import Backplane
import BackplaneBoundary

/// The manifest and the plugins that a swap activates.
struct SwapTarget {
    /// The manifest with the plugins that were loaded for it, or `nil` for the active one.
    var manifest: LoadedManifest?
    /// The plugins that take the places of others in that manifest.
    var replacements: [Replacement]

    /// The libraries as the caller named them, keyed by their plugins' keys.
    var libraries: [String: String] {
        Dictionary(replacements.map { ($0.plugin.key, $0.library) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the manifest with its plugins.
    ///
    /// - Parameter active: The active manifest, which may have changed since the plugins were loaded.
    /// - Throws: `swap.refused` if a plugin has no place in it any more.
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
            Dictionary(uniqueKeysWithValues: replacements.map { ($0.place, $0.plugin) }), in: folder)
    }
}

import Backplane

/// A library that replaces an active one.
struct Replacement {
    /// The position among the plugins of the active manifest.
    var place: Int
    var plugin: LoadedPlugin
    var library: String
}

/// The target of a change: another manifest, other plugins in it, or new instances of the same code.
struct ChangeTarget {
    /// The components to recreate without their state.
    enum Recreated {
        /// A manager, and the collaborators that only it uses.
        case manager(String)
        case everything

        /// Returns the positions of the components in a manifest's plan.
        ///
        /// - Throws: `manager.unknown`, or the manager's own problem.
        func nodes(of manifest: LoadedManifest) throws(BackplaneError) -> Set<Int> {
            switch self {
            case .everything: return Set(manifest.plan.nodes.map(\.id))
            case .manager(let name):
                let node = try manifest.node(ofManager: name)
                return Set([node.id] + manifest.plan.layers(of: node).filter { $0.managers == [name] }.map(\.id))
            }
        }
    }
    /// The manifest with the plugins that were loaded for it, or `nil` for the active one.
    var manifest: LoadedManifest?
    /// The plugins that replace others in that manifest.
    var replacements: [Replacement] = []
    /// The components to recreate, or `nil` for only those that change otherwise.
    var recreated: Recreated?

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
            // The manifest may have provided a folder to a host without one.
            in: folder ?? base.loadFolder)
    }

    /// Returns whether the target differs from what is active.
    func changes(_ active: LoadedManifest) -> Bool {
        guard replacements.isEmpty, let manifest else { return !replacements.isEmpty }
        return manifest.document.manifest != active.document.manifest || !manifest.plugins(besides: active).isEmpty
            || !active.plugins(besides: manifest).isEmpty
    }

    /// Returns the plugins that are not active.
    func plugins(besides active: LoadedManifest) -> [LoadedPlugin] {
        (manifest?.plugins(besides: active) ?? []) + replacements.map(\.plugin)
    }

    /// Records that the plugins loaded for the change do not become active.
    func abandon(in live: LiveComposition) {
        live.takeOut(plugins(besides: live.loaded))
        removeFolder(in: live)
    }

    /// Frees disk space that the libraries of a previewed target need only when they run.
    func wasPreviewed(in live: LiveComposition) {
        live.giveRoomBack(of: plugins(besides: live.loaded))
        removeFolder(in: live)
    }

    /// Removes the load folder that was created for the target, if the host has none.
    private func removeFolder(in live: LiveComposition) {
        if live.loadFolder == nil { manifest?.loadFolder?.remove() }
    }
}

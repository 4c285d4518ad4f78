import Backplane
import BackplaneBoundary

/// The manifests that swaps have replaced, which a rollback restores together with the code.
struct ManifestHistory {
    /// A swap that activated another manifest.
    struct Entry {
        /// The manifest before the swap, with its plugins.
        let before: LoadedManifest
        /// The identity of the manifest that replaced it.
        let after: LoadedManifest.Reading
        /// The ids of the plugins that the swap changed, added or dropped.
        let plugins: Set<String>
    }
    private var entries: [Entry] = []

    mutating func add(from before: LoadedManifest, to after: LoadedManifest) {
        let changed = before.plugins(besides: after) + after.plugins(besides: before)
        entries.append(
            Entry(before: before, after: after.reading, plugins: Set(changed.map(\.description.id))))
        if entries.count > GenerationTable.kept { entries.removeFirst() }
    }

    /// Returns the manifest to restore if a plugin is rolled back, or `nil` if the active one stays.
    ///
    /// - Parameters:
    ///   - plugin: The id of the plugin.
    ///   - generation: The key of the generation to restore, or `nil` if the plugin has none in the active manifest.
    func manifest(before active: LoadedManifest, of plugin: String, at generation: String?) -> LoadedManifest? {
        let entry = entries.last { entry in
            guard entry.after === active.reading, entry.plugins.contains(plugin) else { return false }
            let was = entry.before.plugins.first { $0.description.id == plugin }
            return generation == nil || was?.key == generation
        }
        guard let entry else { return nil }
        // Plugins that were swapped since, and do not belong to that swap, stay.
        let current = Dictionary(
            active.plugins.map { ($0.description.id, $0) }, uniquingKeysWith: { first, _ in first })
        var staying: [Int: LoadedPlugin] = [:]
        for (place, plugin) in entry.before.plugins.enumerated() where !entry.plugins.contains(plugin.description.id) {
            guard let now = current[plugin.description.id], now.reference == plugin.reference else { continue }
            staying[place] = now
        }
        return entry.before.replacing(staying, in: active.loadFolder)
    }
}

public import Backplane
import Synchronization

/// A loaded copy of a plugin's library.
public struct Generation: Codable, Sendable, Hashable {
    /// The stage of a generation's lifecycle.
    public enum State: String, Codable, Sendable, Hashable, CaseIterable {
        /// A generation in memory that is not active yet, because it is being prepared or a swap to it was previewed.
        case loaded
        /// The active generation, which receives calls.
        case active
        /// The active generation while it is on probation, which is reverted if it fails.
        case onProbation
        /// A generation that was replaced; it stays in memory, because Swift's runtime cannot unload a library.
        case retired
        /// A generation that was never activated, or failed before its activation became final.
        case failed
    }
    /// The id of the plugin.
    public var plugin: String
    /// The number of the generation, counted from 1 for each plugin.
    public var number: Int
    /// The version of the plugin.
    public var version: Version
    /// The path at which the library was built; `nil` if it is linked into this program.
    public var library: String?
    /// The current stage of the generation's lifecycle.
    public var state: State
    /// The time of loading, in seconds since 1970.
    public var loadedAt: Double
    /// The memory used only by this generation, in bytes; `nil` if unknown.
    public var dirtyBytes: Int?
    /// The address space of the generation, in bytes; `nil` if unknown.
    public var mappedBytes: Int?
    /// The reasons why the generation is still in memory.
    public var heldBy: [String] = []
    /// A Boolean value that indicates whether a rollback to this generation is possible.
    public var canReturn = false

    /// Creates the description of a generation.
    public init(plugin: String, number: Int, version: Version, library: String?, state: State, loadedAt: Double) {
        (self.plugin, self.number, self.version, self.library) = (plugin, number, version, library)
        (self.state, self.loadedAt) = (state, loadedAt)
    }
}

/// The libraries that this host has loaded; they are never unloaded.
struct GenerationTable {
    struct Entry {
        /// The generation, without its memory and the reasons why it is retained, which are determined for each report.
        var generation: Generation
        /// The identity of the plugin (``LoadedPlugin/key``).
        let key: String
        /// The path of the copy that was loaded; `nil` if it is linked into this program, or a definition.
        let copy: String?
        /// The plugin to activate for a rollback; `nil` if it was never committed or was committed too long ago.
        var loaded: LoadedPlugin?
        /// The rank among committed generations, by their last commitment; 0 if it was never committed.
        var commitment = 0
        /// Whether a rollback to it failed its probation.
        ///
        /// Such a generation is selected for another rollback only by its number.
        var wasTakenBack = false
        var isOverdue = false

        var plugin: String { generation.plugin }
        var number: Int { generation.number }
        var isActive: Bool { [.active, .onProbation].contains(generation.state) }
        var canReturn: Bool { generation.state == .retired && loaded != nil }

        init(
            _ plugin: String, _ number: Int, _ version: Version, library: String?, copy: String?, key: String,
            _ state: Generation.State
        ) {
            generation = Generation(
                plugin: plugin, number: number, version: version, library: library, state: state,
                loadedAt: .secondsSince1970)
            (self.key, self.copy) = (key, copy)
        }

        fileprivate mutating func deactivate() { generation.state = commitment > 0 ? .retired : .failed }
    }
    /// The generations, oldest first.
    private var entries: [Entry] = []
    /// The libraries that are still being loaded although nothing waits for them any more.
    let overdue = OverdueLoads()
    private var commitments = 0
    /// The multiple of ``warned`` for which a restart was last recommended.
    private var warnings = 0
    /// The number of generations of a plugin that remain available for a rollback.
    static let kept = 8
    /// The interval, in generations, at which the log recommends a restart.
    static let warned = 100

    /// Adds plugins in a state, or updates the state of those already known.
    mutating func add(_ plugins: some Sequence<LoadedPlugin>, _ state: Generation.State) {
        for plugin in plugins where !set(state, of: plugin) {
            let id = plugin.description.id
            entries.append(
                Entry(
                    id, nextNumber(of: id), plugin.description.version, library: plugin.path, copy: plugin.copy,
                    key: plugin.key, state))
        }
    }

    /// Activates plugins and deactivates all others.
    ///
    /// - Parameter isForGood: Whether to also commit the plugins.
    mutating func activate(_ plugins: [LoadedPlugin], isForGood: Bool) {
        let keys = Set(plugins.map(\.key))
        for index in entries.indices where entries[index].isActive && !keys.contains(entries[index].key) {
            entries[index].deactivate()
        }
        add(plugins, .active)
        if isForGood { for plugin in plugins { commit(plugin) } }
    }

    /// Commits an active plugin, so that it is no longer reverted and is available for a later rollback.
    mutating func commit(_ plugin: LoadedPlugin) {
        add([plugin], .active)
        commitments += 1
        guard let index = index(of: plugin) else { return }
        (entries[index].loaded, entries[index].commitment) = (plugin, commitments)
        entries[index].wasTakenBack = false
        let old = entries.indices.filter { entries[$0].plugin == plugin.description.id && entries[$0].canReturn }
        for index in old.sorted(by: { entries[$0].commitment < entries[$1].commitment }).dropLast(Self.kept) {
            entries[index].loaded = nil
        }
    }

    /// Marks a plugin whose activation failed or was reverted.
    mutating func takeOut(_ plugin: LoadedPlugin, afterProbation: Bool) {
        guard let index = index(of: plugin) else { return }
        entries[index].deactivate()
        if afterProbation { entries[index].wasTakenBack = true }
    }

    /// Sets the state of a plugin, or returns `false` if it is unknown.
    @discardableResult
    mutating func set(_ state: Generation.State, of plugin: LoadedPlugin) -> Bool {
        guard let index = index(of: plugin) else { return false }
        entries[index].generation.state = state
        return true
    }

    private func index(of plugin: LoadedPlugin) -> Int? {
        let key = plugin.key
        return entries.lastIndex { $0.key == key }
    }

    func entry(of plugin: LoadedPlugin) -> Entry? { index(of: plugin).map { entries[$0] } }

    func number(of plugin: LoadedPlugin) -> Int { entry(of: plugin)?.number ?? 0 }

    /// Returns the number of a plugin's next generation; 1 if the plugin is unknown.
    func nextNumber(of plugin: String?) -> Int {
        guard let plugin else { return 1 }
        let numbers = (entries + overdue.all).lazy.filter { $0.plugin == plugin }.map(\.number)
        return (numbers.max() ?? 0) + 1
    }

    func plugin(ofLibraryAt path: String) -> String? { entries.last { $0.generation.library == path }?.plugin }

    /// Returns the generations of one plugin, or of all ordered by id; `nil` if the plugin is unknown.
    func entries(of plugin: String?) -> [Entry]? {
        let all = Dictionary(grouping: overdue.all + entries, by: \.plugin).mapValues { entries in
            entries.sorted { $0.number < $1.number }
        }
        guard let plugin else { return all.sorted { $0.key < $1.key }.flatMap(\.value) }
        return all[plugin]
    }

    var ids: [String] { Set(entries.map(\.plugin)).sorted() }

    /// Returns whether inactive generations have reached another multiple of ``warned``; `true` once for each multiple.
    mutating func takeWarning() -> Bool {
        let reached = retired / Self.warned
        guard reached > warnings else { return false }
        warnings = reached
        return true
    }

    /// The number of generations that are in memory but not active.
    var retired: Int { entries.count { !$0.isActive } }
}

/// The libraries whose loading did not end within its limit, and may still end.
final class OverdueLoads: Sendable {
    private let entries = Mutex<[GenerationTable.Entry]>([])

    var all: [GenerationTable.Entry] { entries.withLock(\.self) }

    func add(_ file: LibraryFile) {
        let plugin = file.plugin ?? FilePath.name(of: file.path), version = file.identity.version ?? Version(0)
        var entry = GenerationTable.Entry(
            plugin, file.generation, version, library: file.path, copy: file.copy, key: file.copy, .failed)
        entry.isOverdue = true
        entries.withLock { [entry] in $0.append(entry) }
    }
}

/// The manifests that swaps have replaced, which a rollback restores together with the code.
struct ManifestHistory {
    struct Entry {
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
        // Plugins that were swapped since, and do not belong to that swap, keep their generation.
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

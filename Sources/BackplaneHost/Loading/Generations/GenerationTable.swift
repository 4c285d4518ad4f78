import Backplane
import BackplaneBoundary
import Glibc

/// Every library that this host has loaded: none is ever unloaded.
struct GenerationTable {
    struct Entry {
        let plugin: String
        let number: Int
        let version: Version
        let library: String?
        let loadedAt: Double
        var state: Generation.State
        let image: PluginImage?
        /// What it takes to go back to it; `nil`: it never came into force for good, or that is too long ago.
        var loaded: LoadedPlugin?
        /// Its place among those that came into force for good, by the last time it did; 0: it never did.
        var commitment = 0
        /// It came back and failed its probation: whoever means it says its number.
        var wasTakenBack = false

        var canReturn: Bool { state == .retired && loaded != nil }
    }
    /// By plugin, oldest first.
    private var entries: [String: [Entry]] = [:]
    private var places: [String: (plugin: String, index: Int)] = [:]
    private var commitments = 0
    /// How many generations of one plugin can be gone back to.
    static let kept = 8
    /// At each multiple of so many the log says that it would be time to restart.
    static let warned = 100

    /// Takes notice of plugins; of those known already, of their state.
    mutating func add(_ plugins: some Sequence<LoadedPlugin>, _ state: Generation.State) {
        for plugin in plugins where !set(state, of: plugin) {
            let id = plugin.description.id, number = nextNumber(of: id)
            places[plugin.key] = (id, entries[id]?.count ?? 0)
            entries[id, default: []].append(
                Entry(
                    plugin: id, number: number, version: plugin.description.version, library: plugin.path, loadedAt: .now, state: state,
                    image: plugin.image))
        }
    }

    /// Puts plugins in force; others are so no longer.
    ///
    /// - Parameter isForGood: nothing takes them back any more.
    mutating func putInForce(_ plugins: [LoadedPlugin], isForGood: Bool) {
        let keys = Set(plugins.map(\.key))
        for (key, place) in places where !keys.contains(key) {
            guard let entry = entries[place.plugin]?[place.index], [.inForce, .onProbation].contains(entry.state) else { continue }
            update(place) { $0.state = entry.commitment > 0 ? .retired : .failed }
        }
        add(plugins, .inForce)
        if isForGood { for plugin in plugins { commit(plugin) } }
    }

    /// One that is in force stays so.
    mutating func commit(_ plugin: LoadedPlugin) {
        add([plugin], .inForce)
        guard let place = places[plugin.key] else { return }
        commitments += 1
        let commitment = commitments
        update(place) { ($0.loaded, $0.commitment, $0.wasTakenBack) = (plugin, commitment, false) }
        forgetOld(place.plugin)
    }

    /// One that did not come into force, or not for long.
    mutating func takeOut(_ plugin: LoadedPlugin, afterProbation: Bool) {
        guard let place = places[plugin.key] else { return }
        update(place) { entry in
            entry.state = entry.commitment > 0 ? .retired : .failed
            entry.wasTakenBack = entry.wasTakenBack || afterProbation
        }
    }

    /// `false` for one that is not known.
    @discardableResult
    mutating func set(_ state: Generation.State, of plugin: LoadedPlugin) -> Bool {
        guard let place = places[plugin.key] else { return false }
        update(place) { $0.state = state }
        return true
    }

    private mutating func update(_ place: (plugin: String, index: Int), _ body: (inout Entry) -> Void) {
        guard entries[place.plugin] != nil else { return }
        body(&entries[place.plugin]![place.index])
    }

    private mutating func forgetOld(_ id: String) {
        let all = entries[id] ?? [], old = all.indices.filter { all[$0].canReturn }
        for index in old.sorted(by: { all[$0].commitment < all[$1].commitment }).dropLast(Self.kept) { entries[id]?[index].loaded = nil }
    }

    func entry(of plugin: LoadedPlugin) -> Entry? {
        places[plugin.key].flatMap { entries[$0.plugin]?[$0.index] }
    }

    func number(of plugin: LoadedPlugin) -> Int { entry(of: plugin)?.number ?? 0 }

    /// Of the next library of a plugin; 1 for one that nobody knows.
    func nextNumber(of plugin: String?) -> Int { (plugin.flatMap { entries[$0]?.last?.number } ?? 0) + 1 }

    /// The plugin that a file was the library of.
    func plugin(ofLibraryAt path: String) -> String? {
        entries.values.lazy.compactMap(\.last).first { $0.library == path }?.plugin
    }

    /// Of one plugin, or of all in the order of their ids; `nil` when there is no such plugin.
    func entries(of plugin: String?) -> [Entry]? {
        guard let plugin else { return entries.sorted { $0.key < $1.key }.flatMap(\.value) }
        return entries[plugin]
    }

    var ids: [String] { entries.keys.sorted() }

    /// How many are in memory and not in force.
    var retired: Int { entries.values.reduce(0) { $0 + $1.count { $0.state != .inForce && $0.state != .onProbation } } }
}

extension Double {
    /// Seconds since 1970.
    fileprivate static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

import Backplane
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
        /// What it takes to go back to it; `nil`: that is too long ago.
        var loaded: LoadedPlugin?
        /// Its place among those that were taken out of force, whenever they were loaded.
        var retirement = 0
    }
    /// By plugin, oldest first.
    private var entries: [String: [Entry]] = [:]
    private var places: [String: (plugin: String, index: Int)] = [:]
    private var retirements = 0
    /// How many generations of one plugin can be gone back to.
    static let kept = 8
    /// At each multiple of so many the log says that it would be time to restart.
    static let warned = 100

    /// Takes notice of plugins; of those known already, of their state.
    mutating func add(_ plugins: some Sequence<LoadedPlugin>, _ state: Generation.State) {
        for plugin in plugins where !set(state, of: plugin) {
            let id = plugin.description.id, number = (entries[id]?.last?.number ?? 0) + 1
            places[plugin.key] = (id, entries[id]?.count ?? 0)
            if let image = plugin.image { LastWords.know(image, generation: number) }
            entries[id, default: []].append(
                Entry(
                    plugin: id, number: number, version: plugin.description.version, library: plugin.path, loadedAt: .now, state: state,
                    image: plugin.image, loaded: plugin))
        }
    }

    /// Puts plugins in force; others are so no longer.
    mutating func putInForce(_ plugins: [LoadedPlugin]) {
        let keys = Set(plugins.map(\.key))
        for (key, place) in places where !keys.contains(key) {
            if let state = entries[place.plugin]?[place.index].state, [.inForce, .onProbation].contains(state) { set(.retired, place) }
        }
        add(plugins, .inForce)
    }

    /// `false` for one that is not known.
    @discardableResult
    mutating func set(_ state: Generation.State, of plugin: LoadedPlugin) -> Bool {
        guard let place = places[plugin.key] else { return false }
        set(state, place)
        return true
    }

    private mutating func set(_ state: Generation.State, _ place: (plugin: String, index: Int)) {
        if state == .retired, entries[place.plugin]?[place.index].state != .retired {
            retirements += 1
            entries[place.plugin]?[place.index].retirement = retirements
        }
        entries[place.plugin]?[place.index].state = state
        if state == .retired { forgetOld(place.plugin) }
        if state == .failed { entries[place.plugin]?[place.index].loaded = nil }
    }

    private mutating func forgetOld(_ id: String) {
        let all = entries[id] ?? [], retired = all.indices.filter { all[$0].state == .retired && all[$0].loaded != nil }
        for index in retired.sorted(by: { all[$0].retirement < all[$1].retirement }).dropLast(Self.kept) { entries[id]?[index].loaded = nil }
    }

    func entry(of plugin: LoadedPlugin) -> Entry? {
        places[plugin.key].flatMap { entries[$0.plugin]?[$0.index] }
    }

    func number(of plugin: LoadedPlugin) -> Int { entry(of: plugin)?.number ?? 0 }

    /// Of one plugin, or of all in the order of their ids; `nil` when there is no such plugin.
    func entries(of plugin: String?) -> [Entry]? {
        guard let plugin else { return entries.sorted { $0.key < $1.key }.flatMap(\.value) }
        return entries[plugin]
    }

    var ids: [String] { entries.keys.sorted() }

    /// Those that came as libraries.
    var images: [PluginImage] { entries.values.flatMap { $0.compactMap(\.image) } }

    /// How many are in memory and not in force.
    var retired: Int { entries.values.reduce(0) { $0 + $1.count { $0.state == .retired || $0.state == .failed } } }
}

extension Double {
    /// Seconds since 1970.
    fileprivate static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

import Backplane
import Synchronization

/// The sources of replacements for active plugins: new libraries, linked plugins and older generations.
final class Replacements {
    let live: LiveComposition
    private var linkedSwaps = 0

    init(_ live: LiveComposition) { self.live = live }

    /// Loads libraries and finds the plugins that they replace, except libraries identical to the active ones.
    ///
    /// If its task is cancelled, the function ends early and loads no more libraries.
    ///
    /// - Parameter loaded: The manifest with the plugins that are replaced.
    /// - Throws: The reason why a library cannot be loaded or replaces no plugin.
    func load(_ libraries: [String], among loaded: LoadedManifest, _ options: ChangeOptions)
        async throws(BackplaneError) -> [Replacement]
    {
        guard !libraries.isEmpty else { return [] }
        let folder = try live.requireLoadFolder()
        var replacements: [Replacement] = []
        var plugins: [LoadedPlugin] = []
        func add(_ plugin: LoadedPlugin) {
            live.generations.add([plugin], .loaded)
            plugins.append(plugin)
        }
        do throws(BackplaneError) {
            for library in libraries {
                if Task.isCancelled { throw .givenUp() }
                let wanted = try WantedLibrary(library, among: loaded, live.options)
                if let places = try wanted.definitions(among: loaded) {
                    for place in places where !replacements.contains(where: { $0.place == place }) {
                        var plugin = loaded.plugins[place]
                        guard let definition = try plugin.definition?.reread() else { continue }
                        plugin.definition = definition
                        add(plugin)
                        replacements.append(Replacement(place: place, plugin: plugin, library: library))
                    }
                    continue
                }
                let plugin = try await load(wanted, among: loaded, in: folder, options)
                if loaded.plugins.contains(where: { $0.key == plugin.key }) { continue }
                add(plugin)
                let place = try wanted.place(of: plugin, among: loaded)
                guard !replacements.contains(where: { $0.place == place }) else {
                    throw BackplaneError(
                        .swapRefused,
                        "two of the libraries contain the plugin \(plugin.description.id); name only one of them",
                        at: wanted.path)
                }
                replacements.append(Replacement(place: place, plugin: plugin, library: library))
            }
        } catch {
            live.takeOut(plugins)
            throw error
        }
        return replacements
    }

    /// Returns a replacement, by a plugin linked into this program, of the active plugin with the same id.
    func describe(_ linked: LinkedPlugin) throws(BackplaneError) -> Replacement {
        let description = try linked.describe(HostInterfaces.get)
        let place = try live.loaded.place(ofPlugin: description.id)
        linkedSwaps += 1
        var plugin = LoadedPlugin(path: nil, resources: try linked.resources(), description: description)
        plugin.linkedGeneration = linkedSwaps
        live.generations.add([plugin], .loaded)
        return Replacement(place: place, plugin: plugin, library: description.id)
    }

    /// Loads a library beside the host's serial domain, or returns the loaded plugin to which it is identical.
    private func load(
        _ wanted: WantedLibrary, among loaded: LoadedManifest, in folder: LoadFolder, _ options: ChangeOptions
    ) async throws(BackplaneError) -> LoadedPlugin {
        let isGivenUp = Atomic(false)
        // For a library with an unknown file name, only its entry function would tell which plugin it replaces.
        let rivals = wanted.place.map { [loaded.plugins[$0]] } ?? loaded.plugins
        let loader = LibraryLoader(
            folder: folder, generations: live.generations,
            trials: options.trustsLibraries || live.options.trials == .never ? nil : live.trials,
            limit: options.stepLimit, clock: live.clock, isGivenUp: { isGivenUp.load(ordering: .relaxed) },
            known: { library throws(BackplaneError) in
                if let same = rivals.first(where: { $0.isSame(as: library) }) { return same }
                try wanted.requirePlace(among: loaded)
                return nil
            })
        let replaced = wanted.place.map { loaded.plugins[$0] }
        let library = LibraryLoader.Wanted(
            path: wanted.path, reference: replaced?.reference, replaced: replaced?.description.id)
        let result: Result<LoadedPlugin, BackplaneError> = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let begins = HostThread.launch { continuation.resume(returning: loader.load([library])[0]) }
                if !begins { continuation.resume(returning: .failure(.noThread)) }
            }
        } onCancel: {
            isGivenUp.store(true, ordering: .relaxed)
        }
        return try result.get()
    }

    /// Returns a replacement by an older generation of a plugin.
    ///
    /// - Parameter number: The generation, or `nil` for the last committed one that has not since failed.
    func older(_ name: String, _ number: Int?) throws(BackplaneError) -> Replacement {
        let loaded = live.loaded, place = try loaded.place(ofPlugin: name), current = loaded.plugins[place]
        let entries = live.generations.entries(of: current.description.id) ?? []
        let candidates = entries.filter(\.canReturn),
            last = candidates.filter { !$0.wasTakenBack }.max { $0.commitment < $1.commitment }
        guard let entry = number == nil ? last : candidates.first(where: { $0.number == number }),
            let older = entry.loaded
        else {
            throw Self.noGeneration(number, of: current.description.id, candidates)
        }
        return Replacement(place: place, plugin: older, library: older.path ?? name)
    }

    private static func noGeneration(_ number: Int?, of plugin: String, _ candidates: [GenerationTable.Entry])
        -> BackplaneError
    {
        let list = candidates.map {
            $0.wasTakenBack ? "\($0.number) (which failed its probation after a rollback)" : "\($0.number)"
        }
        let there =
            candidates.isEmpty
            ? "there is none to roll back to" : "retired generations: \(list.joined(separator: ", "))"
        let asked =
            number.map { "retired generation \($0)" }
            ?? (candidates.isEmpty ? "retired generation" : "retired generation without a failed probation")
        return BackplaneError(
            .swapRefused,
            "\(plugin) has no \(asked); \(there)\(number == nil && !candidates.isEmpty ? "; specify its number" : "")")
    }
}

/// The targets of changes.
extension Replacements {
    /// Loads libraries that replace plugins, and another manifest if there is one.
    ///
    /// - Throws: The reason why a library cannot be loaded or replaces no plugin.
    func target(_ libraries: [String], applying document: ManifestDocument?, _ options: ChangeOptions)
        async throws(BackplaneError) -> ChangeTarget
    {
        if !libraries.isEmpty { _ = try live.requireLoadFolder() }
        var target = ChangeTarget()
        if let document { target.manifest = try await live.load(document, trust: options.trustsLibraries) }
        do throws(BackplaneError) {
            target.replacements = try await load(libraries, among: target.manifest ?? live.loaded, options)
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
    func earlier(_ plugin: String, _ number: Int?, _ history: ManifestHistory) throws(BackplaneError) -> ChangeTarget {
        let active = live.loaded
        do throws(BackplaneError) {
            let older = try older(plugin, number)
            if let manifest = history.manifest(
                before: active, of: older.plugin.description.id, at: older.plugin.key)
            {
                return ChangeTarget(manifest: manifest)
            }
            return ChangeTarget(replacements: [older])
        } catch {
            let id = (try? active.place(ofPlugin: plugin)).map { active.plugins[$0].description.id } ?? plugin
            // A plugin that the last change of the manifest added or dropped has no older generation there.
            guard number == nil, let manifest = history.manifest(before: active, of: id, at: nil),
                manifest.plugins.contains(where: { $0.description.id == id })
                    != active.plugins.contains(where: { $0.description.id == id })
            else { throw error }
            return ChangeTarget(manifest: manifest)
        }
    }
}

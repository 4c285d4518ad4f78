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
        do throws(BackplaneError) {
            for library in libraries {
                if Task.isCancelled { throw .givenUp() }
                let wanted = try WantedLibrary(library, among: loaded, live.options)
                if let definitions = try wanted.definitions(among: loaded) {
                    for definition in definitions where !replacements.contains(where: { $0.place == definition.place })
                    {
                        guard let plugin = try definition.reread() else { continue }
                        live.generations.add([plugin], .loaded)
                        plugins.append(plugin)
                        replacements.append(Replacement(place: definition.place, plugin: plugin, library: library))
                    }
                    continue
                }
                // For a library with an unknown file name, only its entry function would tell which plugin it replaces.
                let rivals = wanted.place.map { [loaded.plugins[$0]] } ?? loaded.plugins
                let isSame = await onThreadOfItsOwn(
                    limit: options.stepLimit,
                    "\(FilePath.name(of: wanted.path)) took longer than \(options.stepLimit) to compare"
                ) { _ in .success(rivals.contains { $0.isSame(as: wanted) }) }
                if try isSame.get() { continue }
                try wanted.requirePlace(among: loaded)
                let current = wanted.place.map { loaded.plugins[$0].description.id }
                let plugin = try await load(wanted, replacing: current, in: folder, options)
                live.generations.add([plugin], .loaded)
                plugins.append(plugin)
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

    /// Prepares, tries and loads a library on separate threads, because its initialiser or entry function may never
    /// return.
    private func load(
        _ wanted: WantedLibrary, replacing current: String?, in folder: LoadFolder, _ swap: ChangeOptions
    ) async throws(BackplaneError) -> LoadedPlugin {
        let generations = live.generations
        let name = FilePath.name(of: wanted.path), limit = swap.stepLimit
        let trials: LibraryTrials? = swap.trustsLibraries || live.options.trials == .never ? nil : live.trials
        // The trial has a limit of its own, and the copying before it another.
        let whole = trials == nil ? limit : limit * 2 + .seconds(30)
        let prepared: Result<LibraryFile, BackplaneError> = await onThreadOfItsOwn(
            limit: whole, "\(name) took longer than \(whole) to prepare"
        ) { isGivenUp in
            Result { () throws(BackplaneError) in
                var names = ResourceFolder.Names()
                let library = try LibraryFile.prepare(wanted.path, wanted.reference, in: folder, &names) { id in
                    let plugin = id ?? current
                    return (plugin, generations.nextNumber(of: plugin))
                }
                if isGivenUp() {
                    library.discard()
                    throw .givenUp(at: wanted.path)
                }
                try trials?.requireSurvival(of: library, limit: limit, isGivenUp: isGivenUp)
                return library
            }
        }
        let library = try prepared.get()
        let loaded: Result<LoadedPlugin, BackplaneError> = await onThreadOfItsOwn(
            limit: limit, "\(name) took longer than \(limit) to load"
        ) { isGivenUp in
            Result { () throws(BackplaneError) in
                if isGivenUp() {
                    library.discard()
                    throw .givenUp(at: wanted.path)
                }
                return try LoadedPlugin(library, library.load())
            }
        }
        return try loaded.get()
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

    /// Runs a function on a separate thread for at most `limit`.
    ///
    /// - Parameters:
    ///   - late: The message of the error that is returned when the limit passes.
    ///   - body: The function, which can check whether the task has been cancelled.
    private func onThreadOfItsOwn<Value: Sendable>(
        limit: Duration, _ late: String,
        _ body: @escaping @Sendable (_ isGivenUp: () -> Bool) -> Result<Value, BackplaneError>
    ) async -> Result<Value, BackplaneError> {
        let id = Callbacks.newID(), clock = live.clock, wish = Wish()
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let answer = FirstAnswer(continuation)
                clock.schedule(id, at: clock.moment + limit) {
                    wish.giveUp()
                    answer.give(.failure(BackplaneError(.callDeadline, late)))
                }
                let begins = HostThread.launch {
                    answer.give(body { wish.isGivenUp })
                    clock.cancel(id)
                }
                guard !begins else { return }
                clock.cancel(id)
                answer.give(.failure(.noThread))
            }
        } onCancel: {
            wish.giveUp()
        }
    }
}

extension LoadedPlugin {
    /// Returns whether a library and its resource files equal those that are loaded.
    fileprivate func isSame(as wanted: WantedLibrary) -> Bool {
        guard let copy, LibraryFile.isSame(wanted.path, as: copy, unmapped: unmapped) else { return false }
        var names = ResourceFolder.Names()
        // If it is unclear which files those are, loading the library reports it.
        guard let source = try? ResourceFolder.source(besides: wanted.path, named: wanted.reference?.resources, &names)
        else { return resources == nil }
        return resources.map { FileTree.isSame(source, as: $0) } ?? false
    }
}

/// A request for a result, which ends when no caller waits for it.
private final class Wish: Sendable {
    private let state = Atomic(false)

    var isGivenUp: Bool { state.load(ordering: .relaxed) }

    func giveUp() { state.store(true, ordering: .relaxed) }
}

/// A continuation that receives the first of several answers.
private final class FirstAnswer<Value: Sendable>: Sendable {
    private let continuation: Mutex<UnsafeContinuation<Value, Never>?>

    init(_ continuation: UnsafeContinuation<Value, Never>) { self.continuation = Mutex(continuation) }

    func give(_ value: Value) {
        continuation.withLock { $0.take() }?.resume(returning: value)
    }
}

/// The targets of swaps.
extension Replacements {
    /// Loads libraries that replace plugins of the active manifest.
    ///
    /// - Parameter needsLibraries: Whether it is an error not to name any.
    /// - Throws: The reason why a library cannot be loaded or replaces no plugin.
    func target(_ libraries: [String], _ options: ChangeOptions, needsLibraries: Bool)
        async throws(BackplaneError) -> ChangeTarget
    {
        if needsLibraries, libraries.isEmpty {
            throw BackplaneError(.swapRefused, "specify at least one library to swap, or a manifest to activate")
        }
        return ChangeTarget(replacements: try await load(libraries, among: live.loaded, options))
    }

    /// Loads another manifest, and libraries that replace plugins in it.
    ///
    /// - Throws: The reason why a library cannot be loaded or replaces no plugin.
    func target(_ libraries: [String], applying document: ManifestDocument, _ options: ChangeOptions)
        async throws(BackplaneError) -> ChangeTarget
    {
        // The active manifest is loaded first, so that libraries of both are loaded once.
        _ = live.loaded
        if !libraries.isEmpty { _ = try live.requireLoadFolder() }
        let manifest = try await live.load(document, trust: options.trustsLibraries)
        var target = ChangeTarget(manifest: manifest)
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
    func earlier(_ plugin: String, _ number: Int?, _ history: ManifestHistory) throws(BackplaneError) -> ChangeTarget {
        let active = live.loaded
        let older = Result { () throws(BackplaneError) in try self.older(plugin, number) }
        switch older {
        case .success(let older):
            let id = older.plugin.description.id
            if let manifest = history.manifest(before: active, of: id, at: older.plugin.key) {
                return ChangeTarget(manifest: manifest)
            }
            return ChangeTarget(replacements: [older])
        case .failure(let error):
            let id = (try? active.place(ofPlugin: plugin)).map { active.plugins[$0].description.id } ?? plugin
            // A plugin that the last manifest added or dropped has no older generation in it.
            guard number == nil, let manifest = history.manifest(before: active, of: id, at: nil),
                manifest.plugins.contains(where: { $0.description.id == id })
                    != active.plugins.contains(where: { $0.description.id == id })
            else { throw error }
            return ChangeTarget(manifest: manifest)
        }
    }
}

/// A library that replaces an active one.
struct Replacement {
    /// The position among the plugins of the active manifest.
    var place: Int
    var plugin: LoadedPlugin
    /// The library as the caller named it.
    var library: String
}

/// What a change activates: another manifest, other plugins in it, or new instances of the same code.
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

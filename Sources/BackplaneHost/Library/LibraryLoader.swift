import Backplane
import Synchronization

/// The loading of libraries into this process: at a start, for another manifest and for a swap.
///
/// A disk may not answer, and a constructor or an entry function may never return; the thread on which that happens is
/// abandoned after a limit. The functions block their own thread until then.
struct LibraryLoader: Sendable {
    /// A library to load.
    struct Wanted: Sendable {
        var path: String
        /// The manifest's reference to it, or `nil` if it has none.
        var reference: PluginReference?
        /// The id of the plugin that it replaces, or `nil` if that is unknown.
        var replaced: String?
    }
    let folder: LoadFolder
    let generations: GenerationTable
    /// The trials that each library first has to survive, or `nil` for none.
    let trials: LibraryTrials?
    /// The time limit for copying a library, then for loading it, and again for its entry function.
    let limit: Duration
    let clock: any HostClock
    /// A function that returns whether the result is no longer awaited.
    var isGivenUp: @Sendable () -> Bool = { false }

    /// A function that returns the plugin of a library if that is loaded already.
    var known: @Sendable (Wanted) throws(BackplaneError) -> LoadedPlugin? = { _ in nil }

    /// A library on its way into this process.
    private enum Stage: Sendable {
        case wanted(Wanted)
        case copied(LibraryFile)
        case opened(LibraryFile, DynamicLibrary)
        case described(LoadedPlugin)
        case failed(BackplaneError)
    }

    /// The steps of a load, as errors name them.
    ///
    /// All libraries are loaded before any is described, because loading one discards the Swift runtime's caches of
    /// types.
    private enum Step: String, CaseIterable {
        case compare = "be compared"
        case copy = "be copied"
        /// A trial has a limit of its own.
        case attempt = "be tried"
        case load = "be loaded"
        case describe = "describe itself"
    }

    /// Returns the plugins of libraries, or the reasons why these were not loaded.
    ///
    /// A constructor that hangs delays all later libraries, because the system loads one at a time.
    func load(_ wanted: [Wanted]) -> [Result<LoadedPlugin, BackplaneError>] {
        let names = ResourceFolder.Names(), numbers = Numbers(generations)
        let steps = Step.allCases.map { step in
            AbandonableThread.Step<Stage>(isLimited: step != .attempt) { stage in
                do throws(BackplaneError) {
                    return try take(step, stage, names, numbers)
                } catch {
                    return .failed(error)
                }
            }
        }
        let last = AbandonableThread.map(wanted.map(Stage.wanted), through: steps, limit: limit, by: clock) {
            stage, step in
            late(stage, Step.allCases[step])
        } unable: { _ in
            .failed(.noThread)
        }
        return last.map { stage in
            switch stage {
            case .described(let plugin): .success(plugin)
            case .failed(let error): .failure(error)
            case .wanted, .copied, .opened: preconditionFailure("every library takes every step")
            }
        }
    }

    private func take(_ step: Step, _ stage: Stage, _ names: ResourceFolder.Names, _ numbers: Numbers)
        throws(BackplaneError) -> Stage
    {
        switch (step, stage) {
        case (.compare, .wanted(let library)): return try known(library).map(Stage.described) ?? stage
        case (.copy, .wanted(let library)): return .copied(try prepare(library, names, numbers))
        case (.attempt, .copied(let file)):
            guard let trials else { return stage }
            try trials.requireSurvival(of: file, limit: limit, isGivenUp: isGivenUp)
            try requireWish(for: file)
            return stage
        case (.load, .copied(let file)): return .opened(file, try file.load())
        case (.describe, .opened(let file, let library)): return .described(try LoadedPlugin(file, library))
        default: return stage
        }
    }

    private func late(_ stage: Stage, _ step: Step) -> Stage {
        switch stage {
        case .wanted(let library): return .failed(overdue(library.path, step))
        case .copied(let file), .opened(let file, _):
            generations.overdue.add(file)
            return .failed(overdue(file.path, step))
        case .described, .failed: return stage
        }
    }

    private func prepare(_ wanted: Wanted, _ names: ResourceFolder.Names, _ numbers: Numbers) throws(BackplaneError)
        -> LibraryFile
    {
        let file = try LibraryFile.prepare(wanted.path, wanted.reference, in: folder, names) { id in
            numbers.take(for: id ?? wanted.replaced ?? generations.plugin(ofLibraryAt: wanted.path))
        }
        try requireWish(for: file)
        return file
    }

    /// Discards a copy whose library is no longer wanted.
    private func requireWish(for file: LibraryFile) throws(BackplaneError) {
        guard isGivenUp() else { return }
        file.discard()
        throw .givenUp(at: file.path)
    }

    private func overdue(_ path: String, _ step: Step) -> BackplaneError {
        BackplaneError(
            .callDeadline,
            "\(FilePath.name(of: path)) took longer than \(limit) to \(step.rawValue), and still occupies its thread; `backplane validate` shows where it hangs",
            at: path)
    }

    /// The numbers of new generations, of which one manifest may name several of one plugin.
    private final class Numbers: Sendable {
        private let generations: GenerationTable
        private let taken = Mutex<[String: Int]>([:])

        init(_ generations: GenerationTable) { self.generations = generations }

        func take(for plugin: String?) -> (plugin: String?, number: Int) {
            guard let plugin else { return (nil, 1) }
            let before = taken.withLock { taken in
                defer { taken[plugin, default: 0] += 1 }
                return taken[plugin, default: 0]
            }
            return (plugin, generations.nextNumber(of: plugin) + before)
        }
    }
}

extension LoadedPlugin {
    /// Returns whether a library and its resource files equal those that are loaded.
    func isSame(as wanted: LibraryLoader.Wanted) -> Bool {
        guard let copy, LibraryFile.isSame(wanted.path, as: copy, unmapped: unmapped) else { return false }
        // If it is unclear which files those are, loading the library reports it.
        guard let source = try? ResourceFolder.source(besides: wanted.path, named: wanted.reference?.resources)
        else { return resources == nil }
        return resources.map { FileTree.isSame(source, as: $0) } ?? false
    }
}

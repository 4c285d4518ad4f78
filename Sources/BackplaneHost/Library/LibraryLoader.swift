import Backplane

/// The loading of libraries into this process: at a start, for another manifest and for a swap.
///
/// A disk may not answer, and a constructor or an entry function may never return. The loader abandons the thread on
/// which that happens after a limit. Its functions block their own thread until then.
struct LibraryLoader: Sendable {
    struct Wanted: Sendable {
        var path: String
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

    /// A function that returns the plugin of a library if the library is already loaded.
    var known: @Sendable (Wanted) throws(BackplaneError) -> LoadedPlugin? = { _ in nil }

    /// Returns the plugins of libraries, or the reasons why these were not loaded.
    ///
    /// A constructor that hangs delays all later libraries, because the system loads one at a time.
    func load(_ wanted: [Wanted]) -> [Result<LoadedPlugin, BackplaneError>] {
        wanted.isEmpty ? [] : Loading(self, wanted).results()
    }
}

/// The work of loading libraries: all are taken through the first step, then all through the second one, and so on.
///
/// One thread does the work until a step takes longer than the limit for a library; then another thread continues.
private final class Loading: Sendable {
    /// A library on its way into this process.
    private enum Stage: Sendable {
        case wanted(LibraryLoader.Wanted)
        case copied(LibraryFile)
        case opened(LibraryFile, DynamicLibrary)
        case ended(Result<LoadedPlugin, BackplaneError>)
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

    private struct State {
        var stages: [Stage]
        /// The number of steps that have ended, each for one library.
        var ended = 0
        var began: Deadline
        /// The number of the present thread; the results of earlier ones are discarded.
        var thread = 0
        /// The number of new generations so far by plugin; one manifest may name several of a plugin.
        var numbers: [String: Int] = [:]

        var hasEnded: Bool { ended == stages.count * Step.allCases.count }
        var present: (step: Step, stage: Stage) {
            (Step.allCases[ended / stages.count], stages[ended % stages.count])
        }

        mutating func end(with stage: Stage, at time: Deadline) {
            stages[ended % stages.count] = stage
            (ended, began) = (ended + 1, time)
        }
    }
    private let loader: LibraryLoader
    private let names = ResourceFolder.Names()
    private let alarm = Callbacks.newID()
    private let state: Monitor<State>

    init(_ loader: LibraryLoader, _ wanted: [LibraryLoader.Wanted]) {
        self.loader = loader
        state = Monitor(State(stages: wanted.map(Stage.wanted), began: loader.clock.moment))
    }

    /// Does the work, and waits for its end.
    func results() -> [Result<LoadedPlugin, BackplaneError>] {
        expire(at: loader.clock.moment + loader.limit)
        defer { loader.clock.cancel(alarm) }
        start(0)
        return state.wait { $0.hasEnded ? .done($0.stages) : .until(nil) }.map { stage in
            guard case .ended(let result) = stage else { preconditionFailure("every library takes every step") }
            return result
        }
    }

    private func start(_ thread: Int) {
        if HostThread.launch({ self.run(thread) }) { return }
        state.withLock { state in
            while !state.hasEnded {
                var stage = state.present.stage
                if case .copied(let file) = stage { file.discard() }
                // A library that a former thread has finished keeps its result.
                if case .ended = stage {} else { stage = .ended(.failure(.noThread)) }
                state.end(with: stage, at: loader.clock.moment)
            }
        }
    }

    private func run(_ thread: Int) {
        var result: Stage?
        while let (step, stage) = next(thread, after: result) {
            do throws(BackplaneError) { result = try take(step, stage) } catch { result = .ended(.failure(error)) }
        }
    }

    /// Stores the result of a step, and returns the next one; `nil` if there is none, or the thread was abandoned.
    private func next(_ thread: Int, after result: Stage?) -> (step: Step, stage: Stage)? {
        let time = loader.clock.moment
        return state.withLock(waking: { state -> (result: (step: Step, stage: Stage)?, wakes: Bool) in
            guard state.thread == thread else { return (nil, false) }
            if let result { state.end(with: result, at: time) }
            // The waiter is woken only at the end, because waking it would often take longer than a step.
            return state.hasEnded ? (nil, true) : (state.present, false)
        })
    }

    private func take(_ step: Step, _ stage: Stage) throws(BackplaneError) -> Stage {
        switch (step, stage) {
        case (.compare, .wanted(let library)): return try loader.known(library).map { .ended(.success($0)) } ?? stage
        case (.copy, .wanted(let wanted)):
            let file = try LibraryFile.prepare(wanted.path, wanted.reference, in: loader.folder, names) { id in
                generation(of: id ?? wanted.replaced ?? loader.generations.plugin(ofLibraryAt: wanted.path))
            }
            try requireWish(for: file)
            return .copied(file)
        case (.attempt, .copied(let file)):
            guard let trials = loader.trials else { return stage }
            try trials.requireSurvival(of: file, limit: loader.limit, isGivenUp: loader.isGivenUp)
            try requireWish(for: file)
            return stage
        case (.load, .copied(let file)): return .opened(file, try file.load())
        case (.describe, .opened(let file, let library)): return .ended(.success(try LoadedPlugin(file, library)))
        default: return stage
        }
    }

    private func requireWish(for file: LibraryFile) throws(BackplaneError) {
        guard loader.isGivenUp() else { return }
        file.discard()
        throw .givenUp(at: file.path)
    }

    /// Returns the number of a plugin's next generation, with the plugin.
    private func generation(of plugin: String?) -> (plugin: String?, number: Int) {
        guard let plugin else { return (nil, 1) }
        let before = state.withLock(waking: { state in
            defer { state.numbers[plugin, default: 0] += 1 }
            return (state.numbers[plugin, default: 0], wakes: false)
        })
        return (plugin, loader.generations.nextNumber(of: plugin) + before)
    }

    /// Abandons the thread at the deadline, if its step has taken too long by then.
    private func expire(at deadline: Deadline) {
        loader.clock.schedule(alarm, at: deadline) { [self] in
            let (replacement, next) = state.withLock { state -> (Int?, Deadline?) in
                guard !state.hasEnded else { return (nil, nil) }
                let time = loader.clock.moment, (step, stage) = state.present
                guard step != .attempt else { return (nil, time + loader.limit) }
                guard state.began + loader.limit <= time else { return (nil, state.began + loader.limit) }
                state.end(with: late(stage, step), at: time)
                state.thread += 1
                return state.hasEnded ? (nil, nil) : (state.thread, time + loader.limit)
            }
            if let next { expire(at: next) }
            if let replacement { start(replacement) }
        }
    }

    private func late(_ stage: Stage, _ step: Step) -> Stage {
        let path: String
        switch stage {
        case .wanted(let library): path = library.path
        case .copied(let file), .opened(let file, _):
            loader.generations.overdue.add(file)
            path = file.path
        case .ended: return stage
        }
        let words =
            "\(FilePath.name(of: path)) took longer than \(loader.limit) to \(step.rawValue), and still occupies its thread; `backplane validate` shows where it hangs"
        return .ended(.failure(BackplaneError(.callDeadline, words, at: path)))
    }
}

extension LoadedPlugin {
    /// Returns whether a library and its resource files equal those that are loaded.
    func isSame(as wanted: LibraryLoader.Wanted) -> Bool {
        guard let copy, FileTree.isSameFile(wanted.path, as: copy, unless: unmapped) else { return false }
        // If it is unclear which files belong to the library, loading the library reports that.
        guard let source = try? ResourceFolder.source(besides: wanted.path, named: wanted.reference?.resources)
        else { return resources == nil }
        return resources.map { FileTree.isSame(source, as: $0) } ?? false
    }
}

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

    private typealias Prepared = Result<LibraryFile, BackplaneError>

    /// Returns the plugins of libraries, or the reasons why these were not loaded.
    ///
    /// A constructor that hangs delays all later libraries, because the system loads one at a time.
    func load(_ wanted: [Wanted]) -> [Result<LoadedPlugin, BackplaneError>] {
        let names = ResourceFolder.Names(), numbers = Numbers(generations)
        let copied = AbandonableThread.map(wanted, limit: limit, by: clock, unable: .failure(.noThread)) { library in
            Prepared { () throws(BackplaneError) in try prepare(library, names, numbers) }
        } late: { library in
            .failure(overdue(library.path, "be copied"))
        }
        let prepared = copied.map { copied in
            Prepared { () throws(BackplaneError) in
                let file = try copied.get()
                try trials?.requireSurvival(of: file, limit: limit, isGivenUp: isGivenUp)
                guard isGivenUp() else { return file }
                file.discard()
                throw .givenUp(at: file.path)
            }
        }
        // All are loaded before any is described, because loading one discards the Swift runtime's caches of types.
        let loaded = step(prepared, "be loaded", of: \.self) { file throws(BackplaneError) in (file, try file.load()) }
        return step(loaded, "describe itself", of: \.0) { file, library throws(BackplaneError) in
            try LoadedPlugin(file, library)
        }
    }

    /// Returns whether one of some loaded plugins has the same library and resources as those at a path.
    func isLoaded(_ wanted: Wanted, among plugins: [LoadedPlugin]) throws(BackplaneError) -> Bool {
        let result = AbandonableThread.map([wanted], limit: limit, by: clock, unable: .failure(.noThread)) { wanted in
            Result<Bool, BackplaneError>.success(plugins.contains { $0.isSame(as: wanted) })
        } late: { wanted in
            .failure(overdue(wanted.path, "be compared"))
        }
        return try result[0].get()
    }

    private func step<Input: Sendable, Output: Sendable>(
        _ inputs: [Result<Input, BackplaneError>], _ what: String, of file: @escaping @Sendable (Input) -> LibraryFile,
        _ body: @escaping @Sendable (Input) throws(BackplaneError) -> Output
    ) -> [Result<Output, BackplaneError>] {
        AbandonableThread.map(inputs, limit: limit, by: clock, unable: .failure(.noThread)) { input in
            Result { () throws(BackplaneError) in try body(try input.get()) }
        } late: { input in
            input.flatMap { input in
                generations.overdue.add(file(input))
                return .failure(overdue(file(input).path, what))
            }
        }
    }

    private func prepare(_ wanted: Wanted, _ names: ResourceFolder.Names, _ numbers: Numbers) throws(BackplaneError)
        -> LibraryFile
    {
        let file = try LibraryFile.prepare(wanted.path, wanted.reference, in: folder, names) { id in
            numbers.take(for: id ?? wanted.replaced ?? generations.plugin(ofLibraryAt: wanted.path))
        }
        guard isGivenUp() else { return file }
        file.discard()
        throw .givenUp(at: wanted.path)
    }

    private func overdue(_ path: String, _ what: String) -> BackplaneError {
        BackplaneError(
            .callDeadline,
            "\(FilePath.name(of: path)) took longer than \(limit) to \(what), and still occupies its thread; `backplane validate` shows where it hangs",
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
    fileprivate func isSame(as wanted: LibraryLoader.Wanted) -> Bool {
        guard let copy, LibraryFile.isSame(wanted.path, as: copy, unmapped: unmapped) else { return false }
        // If it is unclear which files those are, loading the library reports it.
        guard let source = try? ResourceFolder.source(besides: wanted.path, named: wanted.reference?.resources)
        else { return resources == nil }
        return resources.map { FileTree.isSame(source, as: $0) } ?? false
    }
}

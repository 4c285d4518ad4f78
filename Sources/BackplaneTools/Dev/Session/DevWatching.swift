import Backplane
import BackplaneHost

/// The file watches of `backplane dev`, with a longer delay for sources and the manifest than for libraries.
struct DevWatching {
    private let sources, libraries: FileWatch

    /// The time without changes after which files are considered complete.
    ///
    /// An editor writes several files, a linker only one.
    private static let sourcesRest = Duration.milliseconds(50), librariesRest = Duration.milliseconds(10)

    /// Creates the watches without any paths.
    ///
    /// - Throws: `watch.unusable`.
    init(_ send: @escaping @Sendable (DevNews) -> Void) throws(BackplaneError) {
        sources = try FileWatch(quiet: Self.sourcesRest, comparing: 64 << 20) { send(.sources($0)) }
        // The application compares the contents of libraries.
        libraries = try FileWatch(quiet: Self.librariesRest, comparing: 0) { send(.libraries($0)) }
    }

    /// Replaces the watched paths.
    ///
    /// - Parameter descriptions: The paths of the manifest and of each Package.swift.
    func watch(_ composition: DevComposition?, _ descriptions: Set<String>) {
        let folders = Set((composition?.products ?? []).flatMap(\.folders))
        let outermost = folders.filter { folder in !folders.contains { folder.hasPrefix($0 + "/") } }
        let files = descriptions.union((composition?.definitions ?? []).flatMap(\.files))
        sources.watch(Set(outermost.map { WatchedTree($0, .recursive) } + files.map { WatchedTree($0, .file) }))
        let places = composition.map { $0.libraries.union($0.missing) } ?? []
        libraries.watch(Set(places.map { WatchedTree(FilePath.folder(of: $0), .libraries) }))
    }

    func close() {
        sources.close()
        libraries.close()
    }
}

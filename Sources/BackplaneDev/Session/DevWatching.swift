import Backplane
import BackplaneHost

/// What is watched under `backplane dev`: sources and the manifest calmly, libraries at once.
struct DevWatching {
    private let sources, libraries: FileWatch

    /// How long nothing may happen any more until something is at rest: an editor writes several files, a linker one.
    private static let sourcesRest = Duration.milliseconds(50), librariesRest = Duration.milliseconds(10)

    /// - Throws: `watch.unusable`.
    init(_ send: @escaping @Sendable (DevNews) -> Void) throws(BackplaneError) {
        sources = try FileWatch(quiet: Self.sourcesRest, comparing: 64 << 20) { send(.sources($0)) }
        // What they hold is for the application to compare.
        libraries = try FileWatch(quiet: Self.librariesRest, comparing: 0) { send(.libraries($0)) }
    }

    /// Watches this from now on, instead of what was before.
    ///
    /// - Parameter descriptions: the manifest and each Package.swift.
    func watch(_ composition: DevComposition?, _ descriptions: Set<String>) {
        let folders = Set((composition?.products ?? []).flatMap(\.folders))
        let outermost = folders.filter { folder in !folders.contains { folder.hasPrefix($0 + "/") } }
        sources.watch(Set(outermost.map { WatchedTree($0, .recursive) } + descriptions.map { WatchedTree($0, .file) }))
        let places = composition.map { $0.libraries.union($0.missing) } ?? []
        libraries.watch(Set(places.map { WatchedTree(FilePath.folder(of: $0), .libraries) }))
    }

    func close() {
        sources.close()
        libraries.close()
    }
}

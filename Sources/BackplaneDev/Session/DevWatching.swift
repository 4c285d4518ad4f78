import Backplane
import BackplaneHost
import Foundation

/// What is watched under `backplane dev`: sources and the manifest calmly, libraries at once.
final class DevWatching {
    private let send: @Sendable (DevNews) -> Void
    private var sources: TreeWatch?
    private var libraries: TreeWatch?
    private var fingerprints = Fingerprints()
    private var remembered: Set<String> = []

    init(_ send: @escaping @Sendable (DevNews) -> Void) { self.send = send }

    /// How long nothing may happen any more until something is at rest: an editor writes several files, a linker one.
    private static let sourcesRest = Duration.milliseconds(50), librariesRest = Duration.milliseconds(10)

    /// Watches this from now on, instead of what was before.
    func watch(_ composition: DevComposition, packages: [String], manifest: String, report: (BackplaneError) -> Void) {
        let folders = Set(composition.products.flatMap(\.folders))
        let outermost = folders.filter { folder in !folders.contains { folder.hasPrefix($0 + "/") } }
        let sourceTrees = outermost.map { .recursive($0) } + (packages.map { FilePath.join($0, "Package.swift") } + [manifest]).map { WatchedTree.file($0) }
        let libraryTrees = Set(composition.libraries.union(composition.missing).map(FilePath.folder)).map { WatchedTree.flat($0) }
        do throws(BackplaneError) {
            if let sources { try sources.replace(sourceTrees) } else {
                let send = send
                sources = try TreeWatch(sourceTrees, quiet: Self.sourcesRest) { send(.sources($0)) }
            }
            if let libraries { try libraries.replace(libraryTrees) } else {
                let send = send
                libraries = try TreeWatch(libraryTrees, quiet: Self.librariesRest) { send(.libraries($0)) }
            }
        } catch {
            report(error)
        }
    }

    /// Takes what these files hold now for what they held when they were last looked at.
    func remember(_ paths: Set<String>) { fingerprints.remember(paths) }

    /// The same for the files below folders that were not looked at yet.
    func remember(below folders: Set<String>) {
        for folder in folders.subtracting(remembered) {
            let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
            fingerprints.remember(files.filter { !$0.hasPrefix(".") && !$0.contains("/.") }.map { FilePath.join(folder, $0) })
        }
        remembered.formUnion(folders)
    }

    /// Those that have other contents than when they were last looked at.
    func really(_ paths: Set<String>) -> Set<String> { fingerprints.changed(among: paths) }

    func close() {
        sources?.close()
        libraries?.close()
    }
}

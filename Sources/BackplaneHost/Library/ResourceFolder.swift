package import Backplane
import Glibc
import Synchronization

/// The folder with a plugin's read-only files, which is copied together with its library.
package enum ResourceFolder {
    /// The limit for all files together, in bytes.
    static let maximumSize = 1 << 30
    static let maximumCount = 10_000

    /// A cache of the names of resource folders, because one folder may contain hundreds of libraries.
    package final class Names: Sendable {
        private let known = Mutex<[String: [String]]>([:])

        package init() {}

        /// Returns the names of the resource folders in a folder; none if it may not be listed.
        ///
        /// - Throws: `plugin.unreadable` if the folder is missing, as SwiftPM's link `.build/debug` is for a moment at
        ///   the end of each build.
        func names(in folder: String) throws(BackplaneError) -> [String] {
            if let names = known.withLock({ $0[folder] }) { return names }
            let all: [String]
            do throws(SystemError) { all = try FileTree.names(in: folder) } catch {
                guard error.number != EACCES else { return [] }
                throw BackplaneError(
                    .pluginUnreadable, "the library's folder cannot be searched for its resources: \(error)",
                    at: folder)
            }
            let names = all.filter { $0.hasSuffix(".resources") }
            known.withLock { $0[folder] = names }
            return names
        }
    }

    /// Copies a library's files next to its copy, and returns the path of their copy; `nil` if there are none.
    ///
    /// - Parameter name: The name of the folder in the manifest; `nil` derives it from the library's name.
    package static func copy(besides library: LibraryFile, named name: String?, _ names: Names = Names())
        throws(BackplaneError) -> String?
    {
        guard let source = try source(besides: library.path, named: name, names) else { return nil }
        let target = library.resourcesCopy
        guard (try? FileStatus(at: source))?.kind == .folder else {
            throw BackplaneError(
                .pluginUnreadable, "expected a folder with the plugin's resources, found something else or nothing",
                at: source)
        }
        do throws(FileTree.NotCopied) {
            try FileTree.copy(source, to: target, maximumSize: maximumSize, maximumCount: maximumCount)
        } catch {
            throw BackplaneError(
                .pluginUnreadable, "the plugin's resources cannot be copied: \(error.reason)", at: error.path)
        }
        return target
    }

    /// Returns the path of the files of the library at `path`; `nil` if there are none.
    static func source(besides path: String, named name: String?, _ names: Names = Names()) throws(BackplaneError)
        -> String?
    {
        let folder = FilePath.folder(of: path)
        let found = if let name { name } else { try find(in: folder, for: path, names) }
        return found.map { FilePath.join(folder, $0) }
    }

    /// Returns the folder with the files of a linked plugin, which SwiftPM places next to the program.
    ///
    /// They are not copied, because they belong to the program: a swap of linked plugins, which only tests perform,
    /// replaces types but not files.
    static func ofModule(declaring plugin: any Plugin.Type) throws(BackplaneError) -> String? {
        guard let folder = RunningExecutable.folder, let module = String(reflecting: plugin).split(separator: ".").first
        else { return nil }
        return try of(module: module, in: folder)
    }

    static func of(module: some StringProtocol, in folder: String) throws(BackplaneError) -> String? {
        let found = ((try? FileTree.names(in: folder)) ?? []).filter { $0.hasSuffix("_\(module).resources") }
        return try only(found, at: folder, "remove the one that is left over").map { FilePath.join(folder, $0) }
    }

    /// Finds the resources of target `T` of package `P`, which SwiftPM places in `P_T.resources` next to the product.
    private static func find(in folder: String, for library: String, _ names: Names) throws(BackplaneError)
        -> String?
    {
        let stem = stem(of: library)
        let found = try names.names(in: folder).filter { $0.hasSuffix("_\(stem).resources") }
        return try only(found, at: library, "choose one with `resources` in the manifest")
    }

    private static func only(_ found: [String], at location: String, _ advice: String) throws(BackplaneError) -> String?
    {
        guard found.count < 2 else {
            let list = found.map { "`\($0)`" }.joined(separator: " and ")
            throw BackplaneError(
                .pluginUnreadable, "\(list) could both be the plugin's resources; \(advice)", at: location)
        }
        return found.first
    }

    /// Returns the library's name without affixes: `Bookshelf` for `libBookshelf.so`.
    private static func stem(of library: String) -> String {
        var name = FilePath.name(of: library)[...]
        if name.hasSuffix(".so") { name = name.dropLast(3) }
        return String(name.hasPrefix("lib") ? name.dropFirst(3) : name)
    }
}

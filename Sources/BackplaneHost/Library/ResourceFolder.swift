package import Backplane
import Glibc
import Synchronization

/// The folder with a plugin's read-only files, which is copied together with its library.
package enum ResourceFolder {
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
        do throws(BackplaneError) {
            var copying = Copying()
            try copying.folder(source, to: target)
        } catch {
            FileTree.remove(target)
            throw error
        }
        return target
    }

    /// The copying of folders: the numbers of bytes and files that may still be copied. Links are refused.
    private struct Copying {
        private var size = 1 << 30, count = 10_000

        mutating func folder(_ source: String, to target: String) throws(BackplaneError) {
            let names: [String]
            do throws(SystemError) {
                names = try FileTree.names(in: source)
                guard mkdir(target, 0o700) == 0 else { throw .last }
            } catch {
                throw Self.refusal("\(error)", at: source)
            }
            for name in names {
                let from = FilePath.join(source, name), to = FilePath.join(target, name)
                switch try kind(of: from) {
                case .folder: try folder(from, to: to)
                case .file: try file(from, to: to)
                case .link, .other:
                    throw Self.refusal("expected files and folders, found a link or something else", at: from)
                }
            }
        }

        private func kind(of path: String) throws(BackplaneError) -> FileStatus.Kind {
            do { return try FileStatus(at: path).kind } catch { throw Self.refusal("\(error)", at: path) }
        }

        private mutating func file(_ source: String, to target: String) throws(BackplaneError) {
            count -= 1
            guard count >= 0 else { throw Self.refusal("there are too many files", at: source) }
            do throws(SystemError) {
                let from = try FileDescriptor(opening: source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
                let to = try FileDescriptor(opening: target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
                size -= try from.copy(to: to, limit: max(0, size))
                // A server derives the entity tag of a resource from its time.
                try to.setModified(try FileStatus(of: from).modified)
            } catch {
                throw Self.refusal("\(error)", at: source)
            }
            guard size >= 0 else { throw Self.refusal("the total size of the files is too large", at: source) }
        }

        private static func refusal(_ reason: String, at path: String) -> BackplaneError {
            BackplaneError(.pluginUnreadable, "the plugin's resources cannot be copied: \(reason)", at: path)
        }
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

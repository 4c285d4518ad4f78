package import Backplane

/// The folder of a plugin's read-only files, which is copied together with its library.
package enum ResourceFolder {
    /// In bytes, all files together.
    static let maximumSize = 1 << 30
    static let maximumCount = 10_000

    /// The names of such folders, folder by folder: hundreds of libraries may lie in one, which is looked at once.
    package struct Names {
        private var known: [String: [String]] = [:]

        package init() {}

        mutating func names(in folder: String) -> [String] {
            if let names = known[folder] { return names }
            let names = ((try? FileTree.names(in: folder)) ?? []).filter { $0.hasSuffix(".resources") }
            known[folder] = names
            return names
        }
    }

    /// Copies the files that came with a library to beside its copy, and gives the copy's path; `nil`: it came without.
    ///
    /// - Parameter name: the folder's name where the manifest says it; otherwise it is looked for by the library's.
    package static func copy(besides library: LibraryFile, named name: String?, _ names: inout Names) throws(BackplaneError) -> String? {
        guard let source = try source(besides: library.path, named: name, &names) else { return nil }
        let target = library.copy + ".resources"
        guard (try? FileStatus(at: source))?.kind == .folder else {
            throw BackplaneError(.pluginUnreadable, "the plugin's files are expected in a folder, which this is not, or not there", at: source)
        }
        do throws(FileTree.NotCopied) {
            try FileTree.copy(source, to: target, maximumSize: maximumSize, maximumCount: maximumCount)
        } catch {
            throw BackplaneError(.pluginUnreadable, "the plugin's files cannot be copied: \(error.reason)", at: error.path)
        }
        return target
    }

    /// Where the files lie that come with the library at `path`; `nil`: none do.
    static func source(besides path: String, named name: String?, _ names: inout Names) throws(BackplaneError) -> String? {
        let folder = FilePath.folder(of: path)
        let found = if let name { name } else { try find(in: folder, for: path, &names) }
        return found.map { FilePath.join(folder, $0) }
    }

    /// The files of the module that declares a plugin which is linked into this program: where SwiftPM puts them, beside it.
    ///
    /// They are not copied: what is linked is not replaced while the program runs.
    static func ofModule(declaring plugin: any Plugin.Type) throws(BackplaneError) -> String? {
        guard let folder = RunningExecutable.folder, let module = String(reflecting: plugin).split(separator: ".").first else { return nil }
        return try of(module: module, in: folder)
    }

    static func of(module: some StringProtocol, in folder: String) throws(BackplaneError) -> String? {
        let found = ((try? FileTree.names(in: folder)) ?? []).filter { $0.hasSuffix("_\(module).resources") }
        return try only(found, at: folder, "remove the one that was left there").map { FilePath.join(folder, $0) }
    }

    /// SwiftPM puts the resources of target `T` of package `P` into `P_T.resources`, beside what it builds.
    private static func find(in folder: String, for library: String, _ names: inout Names) throws(BackplaneError) -> String? {
        let stem = stem(of: library)
        let found = names.names(in: folder).filter { $0.hasSuffix("_\(stem).resources") || $0.hasSuffix("_\(stem)Module.resources") }
        return try only(found, at: library, "say which with `resources` in the manifest")
    }

    private static func only(_ found: [String], at location: String, _ advice: String) throws(BackplaneError) -> String? {
        guard found.count < 2 else {
            let list = found.map { "`\($0)`" }.joined(separator: " and ")
            throw BackplaneError(.pluginUnreadable, "both \(list) may be the plugin's files; \(advice)", at: location)
        }
        return found.first
    }

    /// `Bookshelf` of `libBookshelf.so`.
    private static func stem(of library: String) -> String {
        var name = FilePath.name(of: library)[...]
        if name.hasSuffix(".so") { name = name.dropLast(3) }
        return String(name.hasPrefix("lib") ? name.dropFirst(3) : name)
    }
}

package import Backplane

/// Finds the file that a manifest's `library` means. Never looks in the system's library path.
package struct LibraryLocator: Sendable {
    /// What a relative path starts from.
    private let manifestFolder: String
    /// The folders to look in, in order.
    package let places: [String]
    /// What to do about a name that none of them has.
    private let advice: String

    /// - Parameter manifestFolder: `nil` for a manifest that is no file: paths then start from the current folder.
    package init(
        manifestFolder: String?, pluginPaths: [String], executableFolder: String? = RunningExecutable.folder,
        advice: String = "build it, or name its folder with --plugin-path"
    ) {
        (self.manifestFolder, self.advice) = (manifestFolder ?? ".", advice)
        var seen: Set<String> = []
        places = ([manifestFolder].compactMap(\.self) + pluginPaths + [executableFolder].compactMap(\.self))
            .filter { seen.insert(FilePath.absolute($0)).inserted }
    }

    /// The path of the library: `Bookshelf` is `libBookshelf.so` in the first of the places that has one, and so is
    /// `libBookshelf.so`; what has a slash is that very file, relative to the manifest's folder.
    ///
    /// - Throws: `plugin.not-found` with every place that was tried and why it failed among its causes.
    package func locate(_ library: String) throws(BackplaneError) -> String {
        let candidates = try candidates(library)
        var failures: [BackplaneError] = []
        for path in candidates {
            do throws(SystemError) {
                // Anything at all counts as found: a folder or a dangling link of that name is refused with the reason when it
                // is opened, which is better than quietly taking the next.
                _ = try FileStatus(at: path)
                return path
            } catch {
                failures.append(BackplaneError(.pluginNotFound, "\(error)", at: path))
            }
        }
        let advice = library.contains("/") ? "build it, or correct the path" : advice
        throw BackplaneError(.pluginNotFound, "the library `\(library)` is in none of the places tried; \(advice)", causes: failures)
    }

    /// Where the library may lie, in order.
    ///
    /// - Throws: `plugin.not-found` when no file can be meant.
    package func candidates(_ library: String) throws(BackplaneError) -> [String] {
        let name = FilePath.name(of: library)
        let isFile = name.hasSuffix(".so")
        guard !["", ".", "..", ".so"].contains(name), isFile || !library.contains("/"), !library.utf8.contains(0) else {
            throw BackplaneError(
                .pluginNotFound, "`\(library)` is neither a library's name, such as `Bookshelf`, nor a path that ends in `.so`")
        }
        if library.contains("/") { return [FilePath.join(manifestFolder, library)] }
        return places.map { FilePath.join($0, isFile ? name : "lib\(name).so") }
    }
}

package import Backplane
import BackplaneDocuments
import Glibc
import Synchronization

/// The search for the file of a manifest's `library`, which never uses the system's library path.
package final class LibraryLocator: Sendable {
    /// The folder to which paths with a slash are relative.
    private let manifestFolder: String
    package let places: [String]
    /// The advice for a name that no searched folder contains.
    private let advice: String
    /// The number of missing libraries that were compared with the existing ones.
    ///
    /// It is limited, because each comparison takes a while, and a host waits for it.
    private let comparisons = Atomic(0)
    private static let mostComparisons = 20

    /// Creates a locator.
    ///
    /// A manifest in a Swift package uses the libraries of that package. If they are not built yet, a program of
    /// another package, such as the command of a checkout, does not replace them with its own.
    ///
    /// - Parameter manifestFolder: The manifest's folder; `nil` if the manifest is not a file, so that paths are
    ///   relative to the current folder.
    package init(
        manifestFolder: String?, pluginPaths: [String], executableFolder: String? = RunningExecutable.folder,
        advice: String = "build it, or specify its folder with `HostOptions.pluginPaths`"
    ) {
        (self.manifestFolder, self.advice) = (manifestFolder ?? ".", advice)
        var seen: Set<String> = [], last = [executableFolder]
        if let manifestFolder {
            let package = Self.package(of: manifestFolder)
            let isOther = package.map { executableFolder?.hasPrefix(FilePath.join($0, "")) == false } ?? false
            let built = FilePath.join(package ?? manifestFolder, ".build/debug")
            last = isOther ? [built] : [built, executableFolder]
        }
        places = ([manifestFolder].compactMap(\.self) + pluginPaths + last.compactMap(\.self))
            .filter { seen.insert(FilePath.absolute($0)).inserted }
    }

    /// Returns the folder of the Swift package in which a folder is; `nil` if there is none.
    private static func package(of folder: String) -> String? {
        var folder = FilePath.absolute(folder)
        while true {
            if (try? FileStatus(at: FilePath.join(folder, "Package.swift"))) != nil { return folder }
            let parent = FilePath.folder(of: folder)
            if parent == folder { return nil }
            folder = parent
        }
    }

    /// Returns the path of a library.
    ///
    /// `Bookshelf` and `libBookshelf.so` both mean the first `libBookshelf.so` in the searched folders. A path with a
    /// slash refers to exactly that file, relative to the manifest's folder.
    ///
    /// - Throws: `plugin.not-found`, with every path tried and its failure among the causes.
    package func locate(_ library: String) throws(BackplaneError) -> String {
        let candidates = try candidates(library)
        var failures: [BackplaneError] = []
        for path in candidates {
            do throws(SystemError) {
                // Anything counts as found: a folder or a dangling link is refused with the reason when it is opened,
                // which is better than silently trying the next folder.
                _ = try FileStatus(at: path)
                return path
            } catch {
                failures.append(BackplaneError(.pluginNotFound, "\(error)", at: path))
            }
        }
        let name = FilePath.name(of: library), isFile = name.hasSuffix(".so")
        let isCompared = comparisons.wrappingAdd(1, ordering: .relaxed).oldValue < Self.mostComparisons
        let others = isCompared ? candidates.flatMap { Self.libraryNames(in: FilePath.folder(of: $0)) } : []
        let question = NameSuggestions(for: name, among: isFile ? others.map { "lib\($0).so" } : others).question
        let advice = question ?? (library.contains("/") ? "build it, or correct the path" : advice)
        throw BackplaneError(
            .pluginNotFound, "the library `\(library)` was not found in any of these places; \(advice)",
            causes: failures)
    }

    /// Returns the possible paths of a library, in order.
    ///
    /// - Throws: `plugin.not-found` if the text cannot refer to a file.
    package func candidates(_ library: String) throws(BackplaneError) -> [String] {
        let name = FilePath.name(of: library)
        let isFile = name.hasSuffix(".so")
        guard !["", ".", "..", ".so"].contains(name), isFile || !library.contains("/"), !library.utf8.contains(0) else {
            throw BackplaneError(
                .pluginNotFound,
                "`\(library)` is neither a library's name, such as `Bookshelf`, nor a path that ends in `.so`")
        }
        if library.contains("/") { return [FilePath.join(manifestFolder, library)] }
        return places.map { FilePath.join($0, isFile ? name : "lib\(name).so") }
    }
}

extension LibraryLocator {
    /// Returns the plugins in the given folders: all `lib*.so` with an identity, sorted by name within each folder.
    ///
    /// - Throws: `plugin.not-found`, with every unreadable folder among its causes.
    package static func libraries(in pluginPaths: [String]) throws(BackplaneError) -> [String] {
        var (libraries, failures, seen): ([String], [BackplaneError], Set<String>) = ([], [], [])
        for folder in pluginPaths where seen.insert(FilePath.absolute(folder)).inserted {
            do throws(SystemError) {
                libraries += try FileTree.names(in: folder)
                    .filter { $0.hasPrefix("lib") && $0.hasSuffix(".so") }
                    .map { FilePath.join(folder, $0) }
                    .filter(hasIdentity)
            } catch {
                failures.append(BackplaneError(.pluginNotFound, "\(error)", at: folder))
            }
        }
        guard failures.isEmpty else {
            throw BackplaneError(
                .pluginNotFound,
                "some folders of `HostOptions.pluginPaths` cannot be searched for plugins; correct or remove them",
                causes: failures)
        }
        return libraries
    }

    /// Returns the names of the libraries in a folder, as used in manifests.
    private static func libraryNames(in folder: String) -> [String] {
        ((try? FileTree.names(in: folder, most: 10_000)) ?? []).filter { $0.hasPrefix("lib") && $0.hasSuffix(".so") }
            .map { String($0.dropFirst(3).dropLast(3)) }
    }

    private static func hasIdentity(_ path: String) -> Bool {
        // Links are followed, because nothing is loaded here: a link to a plugin is later refused with the reason
        // instead of overlooked. Without O_NONBLOCK, opening a pipe of that name would block.
        guard let file = try? FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK),
            let status = try? FileStatus(of: file), status.kind == .file, status.size <= LibraryFile.maximumSize,
            let image = try? ELFImage(of: file, size: status.size)
        else { return false }
        return image.range(ofSection: LibraryIdentity.section) != nil
    }
}

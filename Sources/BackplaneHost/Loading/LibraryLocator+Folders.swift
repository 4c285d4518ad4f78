package import Backplane
import Glibc

/// The search for plugins when the manifest has no `plugins`.
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

    private static func hasIdentity(_ path: String) -> Bool {
        // Links are followed, because nothing is loaded here: a link to a plugin is later refused with the reason
        // instead of overlooked. Without O_NONBLOCK, opening a pipe of that name would block.
        guard let file = try? FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK),
            let status = try? FileStatus(of: file), status.kind == .file, status.size <= LibraryFile.maximumSize,
            let image = try? ELFImage(tablesOf: file, size: status.size)
        else { return false }
        return image.range(ofSection: LibraryIdentity.section) != nil
    }
}

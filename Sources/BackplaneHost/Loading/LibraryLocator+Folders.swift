package import Backplane
import Glibc

/// Manifests without `plugins`.
extension LibraryLocator {
    /// The plugins in the folders given: every `lib*.so` with an identity, sorted by name in each. Other libraries are passed over.
    ///
    /// - Throws: `plugin.not-found` with every folder that cannot be read among its causes.
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
                .pluginNotFound, "plugins cannot be looked for in every --plugin-path; correct or remove these", causes: failures)
        }
        return libraries
    }

    private static func hasIdentity(_ path: String) -> Bool {
        // A link is followed, since it is not loaded here: one to a plugin is then refused with the reason, not overlooked.
        // Without O_NONBLOCK a pipe of that name would be waited for.
        guard let file = try? FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK),
            let status = try? FileStatus(of: file), status.kind == .file, status.size <= LibraryFile.maximumSize,
            let bytes = try? file.bytes(count: status.size), let image = try? ELFImage(bytes)
        else { return false }
        return image.section(named: LibraryIdentity.section) != nil
    }
}

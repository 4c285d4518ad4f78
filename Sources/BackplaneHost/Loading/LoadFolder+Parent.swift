import Backplane
import Glibc

/// Where hosts make their folders.
extension LoadFolder {
    /// `$XDG_RUNTIME_DIR` is the user's alone and empties itself (XDG Base Directory Specification); where it is missing or
    /// breaks that promise, a folder of the user's in the temporary folder.
    static func defaultParent(_ environment: (String) -> String?) -> String {
        if let folder = environment("XDG_RUNTIME_DIR"), isUsable(folder) { return FilePath.join(folder, "backplane") }
        return FilePath.join(environment("TMPDIR") ?? "/tmp", "backplane-\(geteuid())")
    }

    private static func isUsable(_ folder: String) -> Bool {
        guard folder.hasPrefix("/"), let status = try? FileStatus(at: folder) else { return false }
        return status.kind == .folder && status.owner == geteuid() && !status.isWritableByAnyoneElse && access(folder, W_OK | X_OK) == 0
    }

    static func makeParent(_ path: String) throws(BackplaneError) {
        do throws(PrivateFolder.Problem) {
            try PrivateFolder.make(at: path)
        } catch {
            throw unusable(path, error.text)
        }
    }

    static func requireExecution(in path: String) throws(BackplaneError) {
        do throws(SystemError) {
            if try !Mount(holding: path).isNoExec { return }
        } catch {
            throw unusable(path, "cannot be looked at: \(error)")
        }
        throw unusable(path, "lies on a file system that is mounted noexec, from which nothing can be loaded")
    }

    static func unusable(_ path: String, _ reason: String) -> BackplaneError {
        BackplaneError(
            .loadFolderUnusable, "the folder that libraries are loaded from \(reason); choose another with --load-folder", at: path)
    }
}

import Glibc

/// Where hosts of this user keep what is gone with them: control sockets and, in the folder for caches, copies of libraries.
package enum RuntimeFolder {
    /// `$XDG_RUNTIME_DIR/backplane`, say: such a folder is the user's alone (XDG Base Directory Specification); where it
    /// is missing or breaks that promise, a folder of the user's in the temporary folder.
    ///
    /// - Parameter variable: `XDG_RUNTIME_DIR`, which empties itself and mostly lies in memory, or `XDG_CACHE_HOME`, which lies on a disk.
    package static func path(in variable: String = "XDG_RUNTIME_DIR", _ environment: (String) -> String? = ProcessEnvironment.value) -> String {
        if let folder = environment(variable), isUsable(folder) { return FilePath.join(folder, "backplane") }
        return FilePath.join(environment("TMPDIR") ?? "/tmp", "backplane-\(geteuid())")
    }

    private static func isUsable(_ folder: String) -> Bool {
        guard folder.hasPrefix("/"), let status = try? FileStatus(at: folder) else { return false }
        return status.kind == .folder && status.owner == geteuid() && !status.isWritableByAnyoneElse && access(folder, W_OK | X_OK) == 0
    }
}

import Glibc

/// Where hosts of this user keep what is gone with them: their load folders and control sockets.
package enum RuntimeFolder {
    /// `$XDG_RUNTIME_DIR/backplane`: that folder is the user's alone and empties itself (XDG Base Directory Specification); where it
    /// is missing or breaks that promise, a folder of the user's in the temporary folder.
    package static func path(_ environment: (String) -> String? = ProcessEnvironment.value) -> String {
        if let folder = environment("XDG_RUNTIME_DIR"), isUsable(folder) { return FilePath.join(folder, "backplane") }
        return FilePath.join(environment("TMPDIR") ?? "/tmp", "backplane-\(geteuid())")
    }

    private static func isUsable(_ folder: String) -> Bool {
        guard folder.hasPrefix("/"), let status = try? FileStatus(at: folder) else { return false }
        return status.kind == .folder && status.owner == geteuid() && !status.isWritableByAnyoneElse && access(folder, W_OK | X_OK) == 0
    }
}

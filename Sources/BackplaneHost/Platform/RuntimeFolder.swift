import Glibc

/// The folder for files that a host needs only while it is running: control sockets and copies of libraries.
package enum RuntimeFolder {
    /// Returns the path of the folder, such as `$XDG_RUNTIME_DIR/backplane`.
    ///
    /// The XDG Base Directory Specification makes such a folder private to the user. If it is missing or not private,
    /// the path is that of a user's folder in the temporary folder.
    ///
    /// - Parameter variable: `XDG_RUNTIME_DIR`, which is emptied by the system and mostly in memory, or
    ///   `XDG_CACHE_HOME`, which is on disk.
    package static func path(
        in variable: String = "XDG_RUNTIME_DIR", _ environment: (String) -> String? = ProcessEnvironment.value
    ) -> String {
        if let folder = environment(variable), isUsable(folder) { return FilePath.join(folder, "backplane") }
        return FilePath.join(environment("TMPDIR") ?? "/tmp", "backplane-\(geteuid())")
    }

    private static func isUsable(_ folder: String) -> Bool {
        guard folder.hasPrefix("/"), let status = try? FileStatus(at: folder) else { return false }
        return status.kind == .folder && status.owner == geteuid() && !status.isWritableByAnyoneElse
            && access(folder, W_OK | X_OK) == 0
    }
}

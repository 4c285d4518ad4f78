import Glibc

/// The load folders of other hosts.
extension LoadFolder {
    /// Returns a name `host-<process>-<random>`, in which the process id aids readers and the random part ensures
    /// uniqueness.
    static func newName() -> String {
        let random = String(UInt64.random(in: .min ... .max), radix: 16)
        return "host-\(getpid())-" + String(repeating: "0", count: 16 - random.count) + random
    }

    /// Removes the folders of hosts that have ended from `parent`.
    ///
    /// Only folders that certainly belong to a host are touched, because users can choose a parent with other contents.
    static func sweep(_ parent: String) {
        for name in (try? FileTree.names(in: parent)) ?? [] where isHostFolder(name) {
            let path = FilePath.join(parent, name)
            guard let status = try? FileStatus(at: path), status.kind == .folder, status.owner == geteuid() else {
                continue
            }
            if !FileLock.isHeld(at: FilePath.join(path, "lock")) { FileTree.remove(path) }
        }
    }

    private static func isHostFolder(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "host", Int32(parts[1]) != nil else { return false }
        return parts[2].utf8.count == 16 && UInt64(parts[2], radix: 16) != nil
    }
}

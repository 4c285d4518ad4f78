import Glibc

/// The file system that contains a file.
package struct Mount: Sendable {
    /// A Boolean value that indicates whether files on the mount cannot be executed or loaded as a library.
    package let isNoExec: Bool

    package init(holding path: String) throws(SystemError) {
        var raw = statvfs()
        try retryingInterrupted { statvfs(path, &raw) }
        // ST_NOEXEC of bits/statvfs.h, an enumeration that the importer does not see.
        isNoExec = raw.f_flag & 8 != 0
    }
}

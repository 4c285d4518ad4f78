import Glibc

/// The bytes of files that tests write.
package enum FileContents {
    /// Replaces a file, which may be mapped, with a new one, and does not wait for the disk.
    ///
    /// Foundation would wait for the disk, but a test's files need not outlive the test.
    ///
    /// - Returns: `true` if everything was written; otherwise, `errno` contains the reason.
    package static func write(_ bytes: [UInt8], to path: String, mode: UInt32 = 0o755) -> Bool {
        let unfinished = path + ".unfinished"
        guard let file = fopen(unfinished, "w") else { return false }
        let isWritten = fwrite(bytes, 1, bytes.count, file) == bytes.count
        return fclose(file) == 0 && isWritten && chmod(unfinished, mode) == 0 && rename(unfinished, path) == 0
    }

    package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}

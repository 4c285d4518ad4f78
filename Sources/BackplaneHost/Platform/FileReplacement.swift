import Glibc

/// Writes a file so that whoever reads it sees the old bytes or the new ones, whole, also after a crash.
package enum FileReplacement {
    /// Makes a file where none is; otherwise that is `EEXIST`.
    ///
    /// - Parameter mode: its permissions at most, of which the process's mask takes some away.
    package static func create(_ path: String, with bytes: some Collection<UInt8>, mode: UInt32) throws(SystemError) {
        try write(bytes, beside: path, mode: mode) { file, temporary throws(SystemError) in
            try file.synchronize()
            // A link fails where a file is, without a moment between looking and taking the name.
            try retryingInterrupted { link(temporary, path) }
            unlink(temporary)
        }
    }

    /// Takes the place of a file, with its owner, its group and its permissions, as far as this process may give them.
    ///
    /// - Parameter status: of that file.
    static func replace(_ path: String, _ status: FileStatus, with bytes: some Collection<UInt8>) throws(SystemError) {
        try write(bytes, beside: path, mode: 0o600) { file, temporary throws(SystemError) in
            try file.take(status)
            try file.synchronize()
            try retryingInterrupted { rename(temporary, path) }
        }
    }

    private static func write(
        _ bytes: some Collection<UInt8>, beside path: String, mode: UInt32,
        then finish: (borrowing FileDescriptor, _ temporary: String) throws(SystemError) -> Void
    ) throws(SystemError) {
        let temporary = FilePath.join(FilePath.folder(of: path), ".backplane-" + String(UInt64.random(in: .min ... .max), radix: 36))
        let file = try FileDescriptor(opening: temporary, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        do throws(SystemError) {
            try file.write(ArraySlice(bytes))
            try finish(file, temporary)
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Permissions for a file that could not be given to the group it is to have: nobody gains by that.
    static func withoutGroup(_ mode: UInt32) -> UInt32 {
        let shared = mode & mode >> 3 & 0o007
        return mode & 0o700 | shared << 3 | shared
    }
}

extension FileDescriptor {
    fileprivate borrowing func synchronize() throws(SystemError) {
        let number = number
        try retryingInterrupted { fsync(number) }
    }

    /// Takes over another file's owner, group and permissions; without its group, permissions that are no wider.
    fileprivate borrowing func take(_ status: FileStatus) throws(SystemError) {
        let number = number
        // Only root gives files away; anybody gives them to a group of their own.
        let isGiven = fchown(number, status.owner, status.group) == 0, isShared = isGiven || fchown(number, uid_t.max, status.group) == 0
        // Rights to run as somebody are not for others to have.
        let mode = isGiven ? status.mode : isShared ? status.mode & 0o777 : FileReplacement.withoutGroup(status.mode)
        try retryingInterrupted { fchmod(number, mode) }
    }
}

import Glibc

/// A namespace for writing files atomically.
///
/// Readers see either all of the old bytes or all of the new ones, even after a crash.
package enum FileReplacement {
    /// Creates a file with the given bytes.
    ///
    /// - Parameter mode: The permissions of the file before the process's mask is applied.
    /// - Throws: `EEXIST` if the file already exists.
    package static func create(_ path: String, with bytes: some Collection<UInt8>, mode: UInt32) throws(SystemError) {
        try write(bytes, beside: path, mode: mode) { file, temporary throws(SystemError) in
            try file.synchronize()
            // `link` fails if there is a file already, without a gap between the check and the creation.
            try retryingInterrupted { link(temporary, path) }
            unlink(temporary)
        }
    }

    /// Creates a private file, or replaces an existing one.
    static func put(_ path: String, with bytes: some Collection<UInt8>) throws(SystemError) {
        try write(bytes, beside: path, mode: 0o600) { file, temporary throws(SystemError) in
            try file.synchronize()
            try retryingInterrupted { rename(temporary, path) }
        }
    }

    /// Replaces a file, preserving its owner, group and permissions as far as this process may set them.
    ///
    /// - Parameter status: The status of the file to replace.
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
        let temporary = FilePath.join(
            FilePath.folder(of: path), ".backplane-" + String(UInt64.random(in: .min ... .max), radix: 36))
        let file = try FileDescriptor(opening: temporary, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        do throws(SystemError) {
            try file.write(ArraySlice(bytes))
            try finish(file, temporary)
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Returns permissions for a file whose group could not be set, which grant no one more access than before.
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

    /// Adopts another file's owner, group and permissions; if the group cannot be set, does not widen the permissions.
    fileprivate borrowing func take(_ status: FileStatus) throws(SystemError) {
        let number = number
        // Only root can change a file's owner; any user can change the group to one of their own.
        let isGiven = fchown(number, status.owner, status.group) == 0,
            isShared = isGiven || fchown(number, uid_t.max, status.group) == 0
        // Set-user-id and set-group-id bits are kept only for the same owner and group.
        let mode = isGiven ? status.mode : isShared ? status.mode & 0o777 : FileReplacement.withoutGroup(status.mode)
        try retryingInterrupted { fchmod(number, mode) }
    }
}

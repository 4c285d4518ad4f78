import Backplane
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
        try write(bytes, beside: path, mode: mode) { temporary throws(SystemError) in
            // `link` fails if there is a file already, without a gap between the check and the creation.
            try retryingInterrupted { link(temporary, path) }
            unlink(temporary)
        }
    }

    /// Creates a private file, or replaces an existing one.
    ///
    /// - Parameter status: The status of the file to replace, whose owner, group and permissions are preserved as far
    ///   as this process may set them.
    static func replace(_ path: String, _ status: FileStatus? = nil, with bytes: some Collection<UInt8>)
        throws(SystemError)
    {
        try write(bytes, beside: path, mode: 0o600, like: status) { temporary throws(SystemError) in
            try retryingInterrupted { rename(temporary, path) }
        }
    }

    private static func write(
        _ bytes: some Collection<UInt8>, beside path: String, mode: UInt32, like status: FileStatus? = nil,
        then finish: (_ temporary: String) throws(SystemError) -> Void
    ) throws(SystemError) {
        let temporary = FilePath.join(
            FilePath.folder(of: path), ".backplane-" + String(UInt64.random(in: .min ... .max), radix: 36))
        let file = try FileDescriptor(opening: temporary, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        do throws(SystemError) {
            try file.write(ArraySlice(bytes))
            if let status { try file.adopt(status) }
            try file.synchronize()
            try finish(temporary)
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
    fileprivate borrowing func adopt(_ status: FileStatus) throws(SystemError) {
        let number = number
        // Only root can change a file's owner; any user can change the group to one of their own.
        let isGiven = fchown(number, status.owner, status.group) == 0,
            isShared = isGiven || fchown(number, uid_t.max, status.group) == 0
        // Set-user-id and set-group-id bits are kept only for the same owner and group.
        let mode = isGiven ? status.mode : isShared ? status.mode & 0o777 : FileReplacement.withoutGroup(status.mode)
        try retryingInterrupted { fchmod(number, mode) }
    }
}

/// A namespace for folders to which only this user can write.
package enum PrivateFolder {
    /// The reason why a folder is not private, worded to follow its path in a sentence.
    package struct Defect: Error, Hashable {
        package let reason: String
        /// The remedy for a folder that serves only this purpose.
        var advice: String?
        package var text: String { [reason, advice].compactMap(\.self).joined(separator: "; ") }
    }

    /// Creates the folder at `path` with mode 0700, and missing folders above it.
    ///
    /// An existing folder is accepted if it is not a symbolic link, belongs to the user, and is not writable by others.
    package static func make(at path: String) throws(Defect) {
        let path = FilePath.absolute(path)
        let status: FileStatus
        do throws(SystemError) {
            try makeAll(path)
            status = try FileStatus(at: path)
        } catch {
            throw Defect(reason: "cannot be created or inspected: \(error)")
        }
        try verify(status)
    }

    /// Creates the folder and missing ones above it.
    ///
    /// - Precondition: `path` is absolute and does not end with a slash, which would follow a link.
    private static func makeAll(_ path: String) throws(SystemError) {
        guard !path.utf8.contains(0) else { throw SystemError(EINVAL) }
        if mkdir(path, 0o700) == 0 { return }
        switch errno {
        case EEXIST: return
        case ENOENT where path != "/":
            try makeAll(FilePath.folder(of: path))
            // Another process may have created it in the meantime.
            if mkdir(path, 0o700) != 0, errno != EEXIST { throw .last }
        default: throw .last
        }
    }

    private static func verify(_ status: FileStatus) throws(Defect) {
        guard status.kind == .folder else { throw Defect(reason: "is \(status.kind.rawValue), not a folder") }
        guard status.owner == geteuid() else {
            throw Defect(reason: "belongs to user \(status.owner), not to user \(geteuid()), who runs this program")
        }
        guard !status.isWritableByAnyoneElse else {
            throw Defect(reason: "can be written to by others (mode \(status.modeText))", advice: "chmod 700 it")
        }
    }
}

/// An exclusive lock on a file, held until its owner releases it or the process ends for any reason.
package struct FileLock: ~Copyable, Sendable {
    private let file: FileDescriptor

    /// Creates a lock on the file at `path`, or on an existing folder, and waits until the lock is free.
    ///
    /// The file is created if necessary.
    ///
    /// - Throws: `EWOULDBLOCK` if the lock is not free within the limit.
    package init(waitingFor path: String, isFolder: Bool = false, within limit: Duration? = nil) throws(SystemError) {
        let flags = isFolder ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT
        let file = try FileDescriptor(opening: path, flags | O_NOFOLLOW, mode: 0o600)
        let number = file.number, end = limit.map { Deadline.now + $0 }
        while true {
            do throws(SystemError) {
                try retryingInterrupted { flock(number, end == nil ? LOCK_EX : LOCK_EX | LOCK_NB) }
                break
            } catch {
                guard let end, error.number == EWOULDBLOCK, .now < end else { throw error }
                usleep(10_000)
            }
        }
        self.file = file
    }

    /// Releases the lock at this point and not before, regardless of optimisations.
    package consuming func release() {}

    /// Returns whether a process holds the lock on the file at `path`; `true` if unknown, `false` if there is no file.
    package static func isHeld(at path: String) -> Bool {
        do throws(SystemError) {
            let file = try FileDescriptor(opening: path, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
            let number = file.number
            try retryingInterrupted { flock(number, LOCK_EX | LOCK_NB) }
            return false
        } catch {
            return error.number != ENOENT
        }
    }
}

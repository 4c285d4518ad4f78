import Glibc

/// An exclusive lock on a file, held until its owner releases it or the process ends, for whatever reason.
package struct FileLock: ~Copyable, Sendable {
    private let file: FileDescriptor

    /// Creates a lock on the file at `path`, which is created if necessary, and waits until the lock is free.
    package init(waitingFor path: String) throws(SystemError) {
        let file = try FileDescriptor(opening: path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        let number = file.number
        try retryingInterrupted { flock(number, LOCK_EX) }
        self.file = file
    }

    /// Releases the lock here and not before, whatever the optimiser does.
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

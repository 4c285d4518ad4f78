import Glibc

/// An exclusive lock on a file, held until its owner lets go of it or the process ends, however it ends.
package struct FileLock: ~Copyable, Sendable {
    private let file: FileDescriptor

    /// Makes the file where there is none, and waits until the lock is free.
    package init(waitingFor path: String) throws(SystemError) {
        let file = try FileDescriptor(opening: path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        let number = file.number
        try retryingInterrupted { flock(number, LOCK_EX) }
        self.file = file
    }

    /// Lets go of the lock here and not sooner, however clever the optimiser is.
    package consuming func release() {}

    /// Whether a process holds the lock on the file at `path`; also where that cannot be found out. Not where there is no file.
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

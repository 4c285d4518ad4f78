import Backplane
import Glibc

/// An exclusive lock on a file, held until its owner releases it or the process ends for any reason.
package struct FileLock: ~Copyable, Sendable {
    private let file: FileDescriptor

    /// Creates a lock on the file at `path`, which is created if necessary, and waits until the lock is free.
    package init(waitingFor path: String) throws(SystemError) {
        let file = try FileDescriptor(opening: path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        let number = file.number
        try retryingInterrupted { flock(number, LOCK_EX) }
        self.file = file
    }

    /// Creates a lock on a file as ``init(waitingFor:)`` does, or on an existing folder without creating a file in it.
    ///
    /// - Throws: `EWOULDBLOCK` if the lock is not free in time.
    package init(waitingFor path: String, isFolder: Bool, within limit: Duration) throws(SystemError) {
        let flags = isFolder ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT
        let file = try FileDescriptor(opening: path, flags | O_NOFOLLOW, mode: 0o600)
        let number = file.number, end = Deadline.now + limit
        while true {
            do throws(SystemError) {
                try retryingInterrupted { flock(number, LOCK_EX | LOCK_NB) }
                break
            } catch {
                guard error.number == EWOULDBLOCK, .now < end else { throw error }
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

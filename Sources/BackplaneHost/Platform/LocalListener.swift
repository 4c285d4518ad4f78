import Glibc
import Synchronization

/// A Unix socket that others of this user may connect to.
package final class LocalListener: Sendable {
    package let path: String
    private let descriptor: FileDescriptor
    private let isClosed = Atomic(false)

    /// Makes the socket at `path`, where there is nothing yet, for its owner alone.
    ///
    /// - Throws: `EADDRINUSE` where there is something, `ENAMETOOLONG`.
    package init(at path: String) throws(SystemError) {
        let descriptor = try LocalSocket.open(blocking: true)
        let number = descriptor.number
        // Linux makes the file with the mode that the socket has, less the mask: it never had a wider one.
        try retryingInterrupted { fchmod(number, 0o600) }
        try LocalAddress.with(path) { address, size throws(SystemError) in
            _ = try retryingInterrupted { bind(number, address, size) }
        }
        guard listen(number, 64) == 0 else {
            let error = SystemError.last
            unlink(path)
            throw error
        }
        self.path = path
        self.descriptor = descriptor
    }

    /// Waits for the next connection; `nil` once it is closed.
    package func accept() -> LocalSocket? {
        while true {
            let number = Glibc.accept(descriptor.number, nil, nil)
            if number >= 0 {
                _ = fcntl(number, F_SETFD, FD_CLOEXEC)
                _ = fcntl(number, F_SETFL, O_NONBLOCK)
                return LocalSocket(FileDescriptor(adopting: number))
            }
            switch errno {
            case EINTR, ECONNABORTED: continue
            // The process has no files or memory to spare: it may have some soon.
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: usleep(50_000)
            default: return nil
            }
        }
    }

    /// Takes no more connections, and removes the socket.
    package func close() {
        // Another socket of this process may have the path by now.
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        unlink(path)
        shutdown(descriptor.number, Int32(SHUT_RDWR))
    }
}

import Glibc
import Synchronization

/// A listening Unix socket, to which other processes of this user can connect.
package final class LocalListener: Sendable {
    package let path: String
    private let descriptor: FileDescriptor
    private let isClosed = Atomic(false)

    /// Creates the socket at `path`, accessible to its owner alone.
    ///
    /// - Throws: `EADDRINUSE` if the path exists already, or `ENAMETOOLONG`.
    package init(at path: String) throws(SystemError) {
        let descriptor = try LocalSocket.open(blocking: true)
        let number = descriptor.number
        // Linux creates the file with the mode of the socket less the mask, so there is no moment with a wider one.
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

    /// Waits for the next connection; returns `nil` once the listener is closed.
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
            // The process lacks descriptors or memory, which may change soon.
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: usleep(50_000)
            default: return nil
            }
        }
    }

    /// Stops accepting connections, and removes the socket.
    package func close() {
        // By now the path may belong to another socket of this process.
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        unlink(path)
        shutdown(descriptor.number, Int32(SHUT_RDWR))
    }
}

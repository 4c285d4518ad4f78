import Backplane
import Glibc
import Synchronization

/// A listening Unix socket, to which other processes of this user can connect.
package final class LocalListener: Sendable {
    package let path: String
    private let bound: Mutex<Bound>
    private let isClosed = Atomic(false)
    /// The signal that is raised when the listener is closed.
    private let closing: WakeSignal

    /// A descriptor and the file that it was bound to.
    private struct Bound: ~Copyable {
        let descriptor: FileDescriptor
        let file: FileStatus
    }

    /// The result of a wait for a connection.
    package enum Acceptance {
        case connection(LocalSocket)
        /// No connection was made in time.
        case nothing
        case closed
    }

    /// Creates the socket at `path`, accessible to its owner alone.
    ///
    /// - Throws: `EADDRINUSE` if the path exists already, or `ENAMETOOLONG`.
    package init(at path: String) throws(SystemError) {
        closing = try WakeSignal()
        bound = Mutex(try Self.open(path))
        self.path = path
    }

    private static func open(_ path: String) throws(SystemError) -> Bound {
        let descriptor = try LocalSocket.open(blocking: false)
        let number = descriptor.number
        // Linux creates the file with the mode of the socket less the mask, so there is no moment with a wider one.
        try retryingInterrupted { fchmod(number, 0o600) }
        try LocalAddress.with(path) { address, size throws(SystemError) in
            _ = try retryingInterrupted { bind(number, address, size) }
        }
        let file: FileStatus
        do throws(SystemError) {
            file = try FileStatus(at: path)
            _ = try retryingInterrupted { listen(number, 64) }
        } catch {
            unlink(path)
            throw error
        }
        return Bound(descriptor: descriptor, file: file)
    }

    /// Waits for the next connection.
    ///
    /// Connections made before the listener was closed are still accepted.
    package func accept(within limit: Duration) -> Acceptance {
        // Only the thread that accepts replaces the descriptor.
        let number = bound.withLock { $0.descriptor.number }, end = Deadline.now + limit
        while true {
            // Read first, so that a connection made between the two is found by another round.
            let wasClosed = isClosed.load(ordering: .acquiring)
            let accepted = Glibc.accept(number, nil, nil)
            if accepted >= 0 {
                _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
                _ = fcntl(accepted, F_SETFL, O_NONBLOCK)
                return .connection(LocalSocket(FileDescriptor(adopting: accepted)))
            }
            switch errno {
            case EINTR, ECONNABORTED: continue
            // The process lacks descriptors or memory, which may change soon.
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: usleep(50_000)
            case EAGAIN, EWOULDBLOCK: break
            default: return .closed
            }
            if wasClosed { return .closed }
            guard Deadline.now < end else { return .nothing }
            closing.wait(until: end, or: number, events: Int32(POLLIN))
        }
    }

    /// Recreates the socket if its file was removed; any other file at its path is left unchanged.
    ///
    /// Only the thread that accepts connections may call it.
    package func restore() throws(SystemError) {
        do {
            _ = try FileStatus(at: path)
            return
        } catch {
            guard error.number == ENOENT else { throw error }
        }
        let failure = bound.withLock { bound -> SystemError? in
            guard !isClosed.load(ordering: .acquiring) else { return nil }
            do throws(SystemError) {
                bound = try Self.open(path)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    /// Stops accepting connections, and removes the socket.
    package func close() {
        let isFirst = bound.withLock { bound in
            guard !isClosed.load(ordering: .acquiring) else { return false }
            // By now the path may belong to another process.
            if let now = try? FileStatus(at: path), now.inode == bound.file.inode, now.device == bound.file.device {
                unlink(path)
            }
            // Last, so that every connection was made before it.
            isClosed.store(true, ordering: .releasing)
            return true
        }
        if isFirst { closing.raise() }
    }
}

package import Backplane
import Glibc

/// One end of a stream between two processes of this machine.
///
/// No operation waits beyond its deadline, and a disconnected peer is an error, never a signal.
package final class LocalSocket: Sendable {
    let descriptor: FileDescriptor

    /// Creates a socket from a descriptor.
    ///
    /// - Parameter descriptor: A connected, non-blocking socket.
    init(_ descriptor: consuming FileDescriptor) {
        self.descriptor = descriptor
    }

    // `shutdown` notifies the peer at once, even if a child process has inherited the descriptor.
    deinit { shutdown(descriptor.number, Int32(SHUT_RDWR)) }

    /// Creates a socket that is connected to the one listening at `path`.
    ///
    /// - Throws: `ENOENT` if there is none, `ECONNREFUSED` if no process is listening any longer, or `EAGAIN` if the
    ///   connection is not accepted in time.
    package convenience init(connectingTo path: String, within limit: Duration) throws(SystemError) {
        let descriptor = try Self.open(blocking: true)
        let number = descriptor.number
        // The limit for waiting while the listener's queue is full.
        var time = timeval(tv_sec: max(1, Int(limit.components.seconds)), tv_usec: 0)
        setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        try LocalAddress.with(path) { address, size throws(SystemError) in
            _ = try retryingInterrupted { connect(number, address, size) }
        }
        try retryingInterrupted { fcntl(number, F_SETFL, O_NONBLOCK) }
        self.init(descriptor)
    }

    /// Returns whether a process listens, or might listen, at `path`; `false` only if no process does.
    package static func isListenedTo(at path: String) -> Bool {
        do throws(SystemError) {
            let number = try Self.open(blocking: false)
            try LocalAddress.with(path) { address, size throws(SystemError) in
                _ = try retryingInterrupted { connect(number.number, address, size) }
            }
            return true
        } catch {
            return error.number != ECONNREFUSED && error.number != ENOENT
        }
    }

    /// The user of the peer process when it connected or started listening; `nil` if unknown.
    package var peerUser: UInt32? { peer?.user }

    /// The id of the peer process, as seen by this process; `nil` if unknown.
    package var peerProcess: Int32? { peer?.process }

    private var peer: (process: Int32, user: UInt32)? {
        // The layout of the system's `struct ucred`: three numbers.
        var credentials: (process: Int32, user: UInt32, group: UInt32) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(descriptor.number, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else { return nil }
        return (credentials.process, credentials.user)
    }

    /// Waits until the peer has disconnected; the end of only its side of the stream does not count.
    ///
    /// - Returns: `false` if the signal was raised or the deadline passed first.
    package func waitForHangUp(or signal: WakeSignal, until deadline: Deadline?) -> Bool {
        signal.wait(until: deadline, or: descriptor.number) & (POLLHUP | POLLERR) != 0
    }

    /// Ends reading immediately, as if the peer had ended its side of the stream; can be called from any thread.
    package func endReading() { shutdown(descriptor.number, Int32(SHUT_RD)) }

    /// Ends the stream in both directions; the peer can still read data that was written.
    package func hangUp() { shutdown(descriptor.number, Int32(SHUT_RDWR)) }

    static func open(blocking: Bool) throws(SystemError) -> FileDescriptor {
        let kind =
            Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | (blocking ? 0 : Int32(SOCK_NONBLOCK.rawValue))
        return FileDescriptor(adopting: try retryingInterrupted { socket(AF_UNIX, kind, 0) })
    }
}

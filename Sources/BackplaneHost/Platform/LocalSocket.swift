package import Backplane
import Glibc

/// One end of a stream between two processes of this machine.
///
/// Nothing here waits longer than it is told to, and an end that is gone is an error, never a signal.
package final class LocalSocket: Sendable {
    let descriptor: FileDescriptor

    /// - Parameter descriptor: a connected socket that does not block.
    init(_ descriptor: consuming FileDescriptor) {
        self.descriptor = descriptor
    }

    /// The other end learns at once that this one is gone, also where a child process has inherited it.
    deinit { shutdown(descriptor.number, Int32(SHUT_RDWR)) }

    /// Connects to the socket that listens at `path`.
    ///
    /// - Throws: `ENOENT` where there is none, `ECONNREFUSED` where nobody listens any more, `EAGAIN` where nobody takes the connection in
    ///   time.
    package convenience init(connectingTo path: String, within limit: Duration) throws(SystemError) {
        let descriptor = try Self.open(blocking: true)
        let number = descriptor.number
        // How long a full queue is waited for.
        var time = timeval(tv_sec: max(1, Int(limit.components.seconds)), tv_usec: 0)
        setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        try LocalAddress.with(path) { address, size throws(SystemError) in
            _ = try retryingInterrupted { connect(number, address, size) }
        }
        try retryingInterrupted { fcntl(number, F_SETFL, O_NONBLOCK) }
        self.init(descriptor)
    }

    /// Whether somebody listens at `path`, or may; `false` only where certainly nobody does any more.
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

    /// The user of the process at the other end, when it connected or began to listen; `nil`: the system does not say.
    package var peerUser: UInt32? { peer?.user }

    /// The process at the other end, as far as this one sees it.
    package var peerProcess: Int32? { peer?.process }

    private var peer: (process: Int32, user: UInt32)? {
        // The system's `struct ucred`: three numbers.
        var credentials: (process: Int32, user: UInt32, group: UInt32) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(descriptor.number, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else { return nil }
        return (credentials.process, credentials.user)
    }

    /// Waits until the other end is gone, which one that only has nothing more to say is not.
    ///
    /// - Returns: `false`: the signal was raised, or `deadline` has come, before.
    package func waitForHangUp(or signal: WakeSignal, until deadline: Deadline?) -> Bool {
        signal.wait(until: deadline, or: descriptor.number) & (POLLHUP | POLLERR) != 0
    }

    static func open(blocking: Bool) throws(SystemError) -> FileDescriptor {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | (blocking ? 0 : Int32(SOCK_NONBLOCK.rawValue))
        return FileDescriptor(adopting: try retryingInterrupted { socket(AF_UNIX, kind, 0) })
    }
}

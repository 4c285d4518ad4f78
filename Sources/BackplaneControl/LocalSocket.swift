package import Backplane
package import BackplaneHost
import Glibc
import Synchronization

/// The address of a Unix socket, for paths of any length.
enum LocalAddress {
    /// Calls a function of the system, `connect` or `bind`, with the address of the socket at `path`.
    ///
    /// An address has room for 107 bytes (unix(7)). A longer path is reached through a descriptor of its folder.
    ///
    /// - Throws: `ENAMETOOLONG` if the name alone is too long, or the error of opening the folder or of the function.
    static func call(_ path: String, _ function: (UnsafePointer<sockaddr>, socklen_t) -> Int32) throws(SystemError) {
        guard !path.utf8.contains(0) else { throw SystemError(EINVAL) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path) - 1  // the last byte is a zero
        guard path.utf8.count > room else { return try call(&address, path, function) }
        let folder = try FileDescriptor(opening: FilePath.folder(of: path), O_RDONLY | O_DIRECTORY)
        let short = "/proc/self/fd/\(folder.number)/\(FilePath.name(of: path))"
        guard short.utf8.count <= room else { throw SystemError(ENAMETOOLONG) }
        try call(&address, short, function)
    }

    private static func call(
        _ address: inout sockaddr_un, _ path: String, _ function: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(SystemError) {
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        try retryingInterrupted {
            withUnsafeBytes(of: &address) {
                function($0.assumingMemoryBound(to: sockaddr.self).baseAddress!, socklen_t($0.count))
            }
        }
    }
}

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

    /// Creates a socket that is connected to the listening socket at `path`.
    ///
    /// - Throws: `ENOENT` if there is no socket, `ECONNREFUSED` if no process listens any longer, or `EAGAIN` if the
    ///   connection is not accepted in time.
    package convenience init(connectingTo path: String, within limit: Duration) throws(SystemError) {
        let descriptor = try Self.open(blocking: true)
        let number = descriptor.number
        // The limit for waiting while the listener's queue is full.
        var time = timeval(tv_sec: max(1, Int(limit.components.seconds)), tv_usec: 0)
        setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        try LocalAddress.call(path) { connect(number, $0, $1) }
        try retryingInterrupted { fcntl(number, F_SETFL, O_NONBLOCK) }
        self.init(descriptor)
    }

    /// Returns whether a process listens, or might listen, at `path`; `false` only if no process does.
    package static func isListenedTo(at path: String) -> Bool {
        do throws(SystemError) {
            let descriptor = try Self.open(blocking: false), number = descriptor.number
            try LocalAddress.call(path) { connect(number, $0, $1) }
            return true
        } catch {
            return error.number != ECONNREFUSED && error.number != ENOENT
        }
    }

    /// The user of the peer process when it connected or started listening; `nil` if unknown.
    package var peerUser: UInt32? {
        // The layout of the system's `struct ucred`: three numbers.
        var credentials: (process: Int32, user: UInt32, group: UInt32) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: credentials))
        let result = getsockopt(descriptor.number, SOL_SOCKET, SO_PEERCRED, &credentials, &size)
        return result == 0 ? credentials.user : nil
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

extension LocalSocket {
    /// Appends the next bytes, at most `limit`, to `bytes`; returns `false` at the end of the stream.
    ///
    /// - Parameter deadline: The time limit for the wait.
    /// - Throws: `ETIMEDOUT` if nothing arrived.
    package func read(into bytes: inout [UInt8], limit: Int, until deadline: Deadline) throws(SystemError) -> Bool {
        let number = descriptor.number
        while true {
            var result = 0
            // Uninitialised, because usually far fewer than `limit` bytes arrive.
            bytes += [UInt8](unsafeUninitializedCapacity: limit) { buffer, filled in
                result = recv(number, buffer.baseAddress, limit, 0)
                filled = max(result, 0)
            }
            if result >= 0 { return result > 0 }
            try wait(for: POLLIN, until: deadline)
        }
    }

    /// Writes all of `bytes`.
    ///
    /// - Throws: `ETIMEDOUT` if the peer did not accept them in time, or `EPIPE` if it has disconnected.
    package func write(_ bytes: [UInt8], until deadline: Deadline) throws(SystemError) {
        let number = descriptor.number
        var rest = bytes[...]
        while !rest.isEmpty {
            let result = rest.withUnsafeBytes { send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if result >= 0 { rest = rest.dropFirst(result) } else { try wait(for: POLLOUT, until: deadline) }
        }
    }

    /// Waits, after a call that failed, until it may succeed when repeated.
    private func wait(for event: Int32, until deadline: Deadline) throws(SystemError) {
        if errno == EINTR { return }
        guard errno == EAGAIN || errno == EWOULDBLOCK else { throw .last }
        while true {
            let left = deadline.nanoseconds - Deadline.now.nanoseconds
            guard left > 0 else { throw SystemError(ETIMEDOUT) }
            var entry = pollfd(fd: descriptor.number, events: Int16(event), revents: 0)
            let result = poll(&entry, 1, Int32(clamping: (left + 999_999) / 1_000_000))
            if result > 0 { return }
            if result < 0, errno != EINTR { throw .last }
        }
    }
}

/// The lines that arrive at a socket.
struct LineReader {
    private let socket: LocalSocket
    /// The bytes that have arrived and are not part of a line that was returned.
    private(set) var bytes: [UInt8] = []
    /// The number of bytes at the start that are known to contain no newline.
    private var searched = 0
    /// A Boolean value that indicates whether nothing more will arrive.
    private(set) var isEnded = false

    init(_ socket: LocalSocket) { self.socket = socket }

    /// Reads the next bytes, and waits for them until the deadline.
    ///
    /// - Throws: `ETIMEDOUT` if nothing arrived; the call can then be repeated.
    mutating func read(until deadline: Deadline) throws(SystemError) {
        isEnded = try !socket.read(into: &bytes, limit: ControlProtocol.chunk, until: deadline)
    }

    /// Returns the next line that has arrived, without its newline.
    mutating func line() -> [UInt8]? {
        let end = bytes.withUnsafeBytes { bytes -> Int? in
            guard searched < bytes.count, let base = bytes.baseAddress else { return nil }
            let found = memchr(base + searched, Int32(ControlProtocol.newline), bytes.count - searched)
            return found.map { UnsafeRawPointer($0) - base }
        }
        searched = end == nil ? bytes.count : 0
        guard let end else { return nil }
        defer { bytes.removeSubrange(...end) }
        return Array(bytes[..<end])
    }
}

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
        // Linux applies the socket's mode to the new file, so others can never access it.
        try retryingInterrupted { fchmod(number, 0o600) }
        try LocalAddress.call(path) { bind(number, $0, $1) }
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
            // Read before accepting, so that another round finds a connection made in between.
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

    /// Recreates the socket after its file was removed; any other file at its path is left unchanged.
    ///
    /// Only the thread that accepts connections may call it.
    package func restore() {
        bound.withLock { bound in
            guard !isClosed.load(ordering: .acquiring), let restored = try? Self.open(path) else { return }
            bound = restored
        }
    }

    /// Stops accepting connections, and removes the socket.
    package func close() {
        let isFirst = bound.withLock { bound in
            guard !isClosed.load(ordering: .acquiring) else { return false }
            // By now the path may belong to another process.
            if let now = try? FileStatus(at: path), now.inode == bound.file.inode, now.device == bound.file.device {
                unlink(path)
            }
            // Last, because every connection must precede it.
            isClosed.store(true, ordering: .releasing)
            return true
        }
        if isFirst { closing.raise() }
    }
}

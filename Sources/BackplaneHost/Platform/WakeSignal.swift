package import Backplane
import Glibc

/// A signal that any thread can raise to wake a thread that polls descriptors.
package final class WakeSignal: Sendable {
    /// A pair of connected sockets: bytes written to the second wake the thread that polls the first.
    private let waitingEnd, raisingEnd: FileDescriptor

    /// Creates a signal that is not raised.
    ///
    /// - Throws: `EMFILE` or `ENFILE` if the process or the system has reached its limit of open files.
    package init() throws(SystemError) {
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        try retryingInterrupted { socketpair(AF_UNIX, kind, 0, &ends) }
        waitingEnd = FileDescriptor(adopting: ends[0])
        raisingEnd = FileDescriptor(adopting: ends[1])
    }

    /// Ends the current wait, or the next one if there is none.
    package func raise() {
        // If the buffer is full, the signal is already raised.
        send(raisingEnd.number, [1], 1, Int32(MSG_NOSIGNAL))
    }

    /// Waits for the signal, for an event of a descriptor, or until the deadline; without a deadline, indefinitely.
    ///
    /// - Parameter events: The events of the descriptor to wait for, in addition to its end, as in `poll`.
    /// - Returns: The events of the descriptor, as in `poll`.
    @discardableResult
    package func wait(until deadline: Deadline?, or descriptor: Int32? = nil, events: Int32 = 0) -> Int32 {
        // `poll` ignores negative descriptors.
        var entries = [
            pollfd(fd: waitingEnd.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor ?? -1, events: Int16(events), revents: 0),
        ]
        // Rounded up to whole milliseconds, because waking up too early would be useless.
        let limit = deadline.map { max(0, ($0.nanoseconds - Deadline.now.nanoseconds + 999_999) / 1_000_000) } ?? -1
        guard poll(&entries, nfds_t(entries.count), Int32(clamping: limit)) > 0 else { return 0 }
        if entries[0].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 64)
            _ = read(waitingEnd.number, &bytes, bytes.count)
        }
        return Int32(entries[1].revents)
    }
}

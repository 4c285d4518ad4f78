package import Backplane
import Glibc

/// A signal that any thread raises, for one that waits among the descriptors it polls.
package final class WakeSignal: Sendable {
    /// Bytes written to the second end wake whoever polls the first.
    private let waitingEnd, raisingEnd: FileDescriptor

    /// - Throws: `EMFILE`, `ENFILE`: the process or the system has as many open files as it may.
    package init() throws(SystemError) {
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        try retryingInterrupted { socketpair(AF_UNIX, kind, 0, &ends) }
        waitingEnd = FileDescriptor(adopting: ends[0])
        raisingEnd = FileDescriptor(adopting: ends[1])
    }

    /// Ends the wait that is under way, or else the next one.
    package func raise() {
        // Full means that it is raised already.
        send(raisingEnd.number, [1], 1, Int32(MSG_NOSIGNAL))
    }

    /// Waits until the signal is raised, `deadline` has come, or something happens to a descriptor; without a deadline for as long as it takes.
    ///
    /// - Parameter events: what is waited for of the descriptor besides its end, as `poll` takes it.
    /// - Returns: what has happened to the descriptor, as `poll` gives it.
    @discardableResult
    package func wait(until deadline: Deadline?, or descriptor: Int32? = nil, events: Int32 = 0) -> Int32 {
        // `poll` passes over negative numbers.
        var entries = [
            pollfd(fd: waitingEnd.number, events: Int16(POLLIN), revents: 0), pollfd(fd: descriptor ?? -1, events: Int16(events), revents: 0),
        ]
        // In whole milliseconds, never too early: that would be a turn for nothing.
        let limit = deadline.map { max(0, ($0.nanoseconds - Deadline.now.nanoseconds + 999_999) / 1_000_000) } ?? -1
        guard poll(&entries, nfds_t(entries.count), Int32(clamping: limit)) > 0 else { return 0 }
        if entries[0].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 64)
            _ = read(waitingEnd.number, &bytes, bytes.count)
        }
        return Int32(entries[1].revents)
    }
}

package import Backplane
import Glibc

/// State behind a lock on which the host's own threads can wait, with a deadline on the monotonic clock.
package final class Monitor<State>: @unchecked Sendable {  // every access holds the lock
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state: State

    package init(_ state: State) {
        self.state = state
        lock.initialize(to: pthread_mutex_t())
        changed.initialize(to: pthread_cond_t())
        pthread_mutex_init(lock, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(lock)
        changed.deallocate()
        lock.deallocate()
    }

    /// Accesses the state under the lock, and wakes all waiting threads.
    package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        withLock(waking: { (body(&$0), wakes: true) })
    }

    /// Accesses the state under the lock, and wakes the waiting threads only if `body` returns that the change matters
    /// to them.
    package func withLock<Result>(waking body: (inout State) -> (result: Result, wakes: Bool)) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        let (result, wakes) = body(&state)
        if wakes { pthread_cond_broadcast(changed) }
        return result
    }

    /// Waits until `body`, which may change the state, returns a result.
    ///
    /// The closure is evaluated immediately, after every change, and at the deadline that it last returned.
    package func wait<Result>(for body: (inout State) -> Wait<Result>) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while true {
            switch body(&state) {
            case .done(let result):
                pthread_cond_broadcast(changed)
                return result
            case .until(nil):
                pthread_cond_wait(changed, lock)
            case .until(let deadline?):
                var time = timespec(
                    tv_sec: Int(deadline.nanoseconds / 1_000_000_000),
                    tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
                pthread_cond_timedwait(changed, lock, &time)
            }
        }
    }

    package enum Wait<Result> {
        case done(Result)
        /// Another wait, which ends with the next change or at this deadline.
        case until(Deadline?)
    }
}

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

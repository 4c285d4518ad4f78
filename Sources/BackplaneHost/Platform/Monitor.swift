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
    /// It is evaluated immediately, after every change, and at the deadline that it last returned.
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

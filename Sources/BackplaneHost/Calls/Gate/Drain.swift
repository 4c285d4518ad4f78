package import Backplane
import Glibc

/// The wait for calls to leave bindings that were removed from their slots, which requires polling because no event
/// signals it.
package enum Drain {
    /// Polls for a millisecond or two at most, because most calls end within a microsecond.
    static func looks(_ isThere: () -> Bool) -> Bool {
        for look in 0..<30 {
            if isThere() { return true }
            if look < 10 { sched_yield() } else { usleep(20) }
        }
        return isThere()
    }

    /// Polls on a thread that may block; returns `false` if calls are still in flight at the deadline.
    ///
    /// Most calls end within a microsecond. A caller that was preempted inside its call needs a processor to finish, so
    /// after the first polls this function sleeps for increasing times of up to a tenth of a millisecond.
    package static func wait(for bindings: Set<Binding>, until deadline: Deadline) -> Bool {
        var looks = 0
        while bindings.contains(where: { $0.callsInFlight > 0 }) {
            guard Deadline.now < deadline else { return false }
            looks += 1
            if looks > 20 { usleep(useconds_t(min(looks - 20, 100))) }
        }
        return true
    }
}

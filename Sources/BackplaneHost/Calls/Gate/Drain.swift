package import Backplane
import Glibc

/// Waits for calls to leave bindings that were taken out of their slots. Nobody is told of a leave, so somebody has to look.
package enum Drain {
    /// Looks a few times, for at most a millisecond or two: most calls are over within a microsecond.
    static func looks(_ isThere: () -> Bool) -> Bool {
        for look in 0..<30 {
            if isThere() { return true }
            if look < 10 { sched_yield() } else { usleep(20) }
        }
        return isThere()
    }

    /// Looks again and again, on a thread that may be held up; `false` when calls are still under way at the deadline.
    ///
    /// Most calls are over within a microsecond. A caller that lost its processor inside its call needs one to finish: so whoever waits
    /// longer sleeps, ever longer up to a tenth of a millisecond, and leaves it his.
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

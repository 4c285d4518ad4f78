package import Backplane
import Glibc

/// Waits for calls to leave bindings that were taken out of their slots. Nobody is told of a leave, so somebody has to look.
package enum Drain {
    /// Looks again and again, on a thread that may be held up; `false` when calls are still under way at the deadline.
    ///
    /// Most calls are over within microseconds: the first looks only give the processor away, later ones sleep ever longer, up to a
    /// millisecond.
    package static func wait(for bindings: [Binding], until deadline: Deadline) -> Bool {
        var looks = 0
        while bindings.contains(where: { $0.callsInFlight > 0 }) {
            guard Deadline.now < deadline else { return false }
            looks += 1
            if looks < 50 { sched_yield() } else { usleep(useconds_t(min(20 * (looks - 49), 1_000))) }
        }
        return true
    }
}

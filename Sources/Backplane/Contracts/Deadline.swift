import Glibc

/// An instant on the clock that both sides of the boundary share: `CLOCK_MONOTONIC`, in nanoseconds.
package struct Deadline: Sendable, Comparable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package static var now: Deadline {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Deadline(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    package static func < (a: Deadline, b: Deadline) -> Bool { a.nanoseconds < b.nanoseconds }

    /// Returns the instant that is `duration` later.
    ///
    /// The sum saturates: a duration too long for the clock results in the clock's latest instant, which no call
    /// reaches.
    package static func + (deadline: Deadline, duration: Duration) -> Deadline {
        let (seconds, attoseconds) = duration.components
        let (whole, overflowed) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflowed else { return Deadline(nanoseconds: seconds < 0 ? 1 : .max) }
        let (span, overflowedThen) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        let (sum, overflowedAgain) = deadline.nanoseconds.addingReportingOverflow(span)
        guard !overflowedThen, !overflowedAgain else { return Deadline(nanoseconds: seconds < 0 ? 1 : .max) }
        return Deadline(nanoseconds: max(sum, 1))
    }

    package static func - (a: Deadline, b: Deadline) -> Duration {
        .nanoseconds(a.nanoseconds) - .nanoseconds(b.nanoseconds)
    }
}

/// A clock by which time limits, deadlines and pauses are measured.
package protocol DeadlineClock: AnyObject, Sendable {
    /// The current time.
    var moment: Deadline { get }
    /// Runs `action` at the given time, or soon after it if the time has passed.
    func schedule(_ id: UInt64, at time: Deadline, _ action: @escaping @Sendable () -> Void)
    /// Withdraws an action that has not started.
    func cancel(_ id: UInt64)
}

extension DeadlineClock {
    /// Returns the time left until the deadline of a call; `nil` without a deadline.
    package func timeLeft(of call: Call) -> Duration? { call.deadline.map { $0 - moment } }
}

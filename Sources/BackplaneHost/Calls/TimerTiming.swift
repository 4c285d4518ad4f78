import Backplane

/// The times at which a timer is due, without its jitter; durations are in nanoseconds.
struct TimerTiming: Sendable {
    /// The time until the first body.
    let delay: Int64
    /// The time between two bodies; 0 if there is only one.
    let period: Int64
    /// The next due time; `nil` before the timer starts, and after its last due time.
    private(set) var next: Deadline?
    private var hasBegun = false

    init(delay: Int64, period: Int64) {
        (self.delay, self.period) = (delay, period)
    }

    var repeats: Bool { period > 0 }

    /// Counts the delay from the given time, unless the timer has already started.
    mutating func begin(at now: Deadline) {
        guard !hasBegun else { return }
        (next, hasBegun) = (Deadline(nanoseconds: now.nanoseconds + delay), true)
    }

    /// Advances to the first due time after the given time, skipping those that have passed.
    mutating func pass(_ now: Deadline) {
        guard let due = next, due <= now else { return }
        guard repeats else { return next = nil }
        let periods = (now.nanoseconds - due.nanoseconds) / period + 1
        next = Deadline(nanoseconds: due.nanoseconds + periods * period)
    }

    /// Continues in phase with an older instance's timer.
    ///
    /// A timer with another period is due one of its own periods after the older timer's last due time.
    ///
    /// - Returns: `false` if only one of them repeats, or the older timer has no due times left.
    mutating func `continue`(_ old: TimerTiming, at now: Deadline) -> Bool {
        guard let oldNext = old.next, repeats == old.repeats else { return false }
        let own = Deadline(nanoseconds: oldNext.nanoseconds - old.period + period)
        (next, hasBegun) = (period == old.period ? oldNext : max(now, own), true)
        return true
    }

    mutating func skip(to now: Deadline) {
        if repeats { pass(now) }
    }
}

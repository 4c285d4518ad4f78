package import Backplane

/// The clock of components' timers.
package protocol TimerClock: AnyObject, Sendable {
    /// The current moment.
    var moment: Deadline { get }
    /// A Boolean value that indicates whether timers are delayed by their jitter.
    var hasJitter: Bool { get }
    /// Runs `action` on a thread that may block, at a moment or, if that has passed, soon.
    func schedule(_ id: UInt64, at moment: Deadline, _ action: @escaping @Sendable () -> Void)
    /// Withdraws an action that has not begun.
    func cancel(_ id: UInt64)
    /// Records that a body begins; called before the action that begins it returns.
    func bodyBegins()
    /// Records that a body has ended.
    func bodyEnded()
}

extension DeadlineTimer: TimerClock {
    package var moment: Deadline { .now }
    package var hasJitter: Bool { true }
    package func bodyBegins() {}
    package func bodyEnded() {}
}

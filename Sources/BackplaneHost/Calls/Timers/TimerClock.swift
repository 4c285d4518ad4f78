package import Backplane

/// The clock of components' timers.
package protocol TimerClock: AnyObject, Sendable {
    /// The current moment.
    var moment: Deadline { get }
    /// A Boolean value that indicates whether timers are delayed by their jitter.
    var hasJitter: Bool { get }
    /// Runs `action` on a thread that may block, at the given time or soon after it if the time has passed.
    func schedule(_ id: UInt64, at moment: Deadline, _ action: @escaping @Sendable () -> Void)
    /// Withdraws an action that has not started.
    func cancel(_ id: UInt64)
    /// Records that a body is starting; called before the action that starts it returns.
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

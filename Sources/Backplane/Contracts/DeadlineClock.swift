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

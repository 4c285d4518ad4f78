/// A timer of a component, and the counts of its bodies since the instance was created.
public struct TimerStatistics: Sendable, Hashable {
    /// The timer's name, unique in its component.
    public var name: String
    /// The time between two bodies, or `nil` if there is only one.
    public var period: Duration?
    /// The time until the next body; `nil` if none is due because the component is not serving or the last body is
    /// running.
    public var next: Duration?
    /// The number of bodies that were started.
    public var runs: Int
    /// The number of failed bodies, not including cancelled ones.
    public var failures: Int
    /// A Boolean value that indicates whether a body is running.
    public var isRunning: Bool

    package init(name: String, period: Duration?, next: Duration?, runs: Int, failures: Int, isRunning: Bool) {
        (self.name, self.period, self.next) = (name, period, next)
        (self.runs, self.failures, self.isRunning) = (runs, failures, isRunning)
    }
}

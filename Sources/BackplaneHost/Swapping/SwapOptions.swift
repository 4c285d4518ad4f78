/// How a swap is made.
public struct SwapOptions: Sendable, Hashable {
    /// What the new generation has to prove before the old one is given up; `nil`: nothing.
    public var probation: Probation?
    /// The time that calls under way have to end in, before the swap is given up.
    public var drainLimit: Duration
    /// The time that each step of each component may take.
    public var stepLimit: Duration
    /// Goes on where state cannot be carried over: the new code then begins without it.
    public var discardsState: Bool

    public init(
        probation: Probation? = nil, drainLimit: Duration = .seconds(10), stepLimit: Duration = .seconds(10), discardsState: Bool = false
    ) {
        (self.probation, self.drainLimit, self.stepLimit, self.discardsState) = (probation, drainLimit, stepLimit, discardsState)
    }
}

/// What a new generation has to prove: while it lasts the old one is kept, and comes back by itself when the new one fails.
///
/// It ends early when another change is asked for: the generation then stays.
public struct Probation: Sendable, Hashable {
    /// How long it lasts.
    public var duration: Duration
    /// Of the calls that ended, the part that may fail, from 0 to 1.
    public var errorRate: Double
    /// How many calls have to have come before their errors say anything.
    public var minimumCalls: Int
    /// The time between two questions for a component's health.
    public var healthInterval: Duration

    public init(duration: Duration, errorRate: Double = 0.1, minimumCalls: Int = 10, healthInterval: Duration = .seconds(1)) {
        (self.duration, self.errorRate, self.minimumCalls, self.healthInterval) = (duration, errorRate, minimumCalls, healthInterval)
    }
}

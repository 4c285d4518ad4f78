/// The number of rounds, and of iterations in each.
struct Effort: Sendable, Hashable {
    enum Count: Sendable, Hashable {
        /// The number of iterations with about this duration, determined beforehand.
        case lasting(Duration)
        case exactly(Int)
    }
    var rounds: Int
    /// The number of iterations in each round of a row.
    var count: Count

    /// The effort of a normal run: many short rounds instead of a few long ones.
    ///
    /// A row and its baseline are then close together in time, and a longer disturbance affects few rounds of either.
    static let full = Effort(rounds: 21, count: .lasting(.milliseconds(20)))
    /// The effort of a test run, whose figures are not meaningful.
    static let quick = Effort(rounds: 1, count: .exactly(20))
    /// Returns the effort of a single round with a fixed number of iterations, for callgrind.
    static func exactly(_ count: Int) -> Effort { Effort(rounds: 1, count: .exactly(count)) }
}

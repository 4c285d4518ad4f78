/// How much is measured.
struct Effort: Sendable, Hashable {
    enum Count: Sendable, Hashable {
        /// As many as take about this long, found out first.
        case lasting(Duration)
        case exactly(Int)
    }
    var rounds: Int
    /// In each round of a row.
    var count: Count

    /// Many short rounds rather than a few long ones: a row and its baseline are then close together in time, and a disturbance
    /// that lasts spoils few rounds of either.
    static let full = Effort(rounds: 21, count: .lasting(.milliseconds(20)))
    /// To see that everything runs; its figures say little.
    static let quick = Effort(rounds: 2, count: .exactly(20))
    /// These and no others, to be looked at under callgrind.
    static func exactly(_ count: Int) -> Effort { Effort(rounds: 1, count: .exactly(count)) }
}

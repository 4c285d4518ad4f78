/// The figures that one row gave, a figure a round.
struct Sample: Sendable, Hashable {
    private let sorted: [Double]

    /// - Parameter figures: at least one.
    init(_ figures: [Double]) {
        precondition(!figures.isEmpty, "a sample has a figure at least")
        sorted = figures.sorted()
    }

    var median: Double { quantile(0.5) }

    var highest: Double { quantile(1) }

    /// What 99 of 100 figures do not exceed.
    var p99: Double { quantile(0.99) }

    /// Half the interquartile range: half of all rounds are about this close to the median, and a round that was disturbed
    /// does not count.
    var spread: Double { (quantile(0.75) - quantile(0.25)) / 2 }

    /// Between two figures in proportion, as most statistics programs do by default.
    private func quantile(_ part: Double) -> Double {
        let place = part * Double(sorted.count - 1), below = Int(place), above = min(below + 1, sorted.count - 1)
        return sorted[below] + (sorted[above] - sorted[below]) * (place - Double(below))
    }
}

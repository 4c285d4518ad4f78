/// The figures of a row, one for each round.
struct Sample: Sendable, Hashable {
    private let sorted: [Double]

    /// Creates a sample.
    ///
    /// - Parameter figures: The figures; at least one.
    init(_ figures: [Double]) {
        precondition(!figures.isEmpty, "a sample has a figure at least")
        sorted = figures.sorted()
    }

    var median: Double { quantile(0.5) }

    var highest: Double { quantile(1) }

    /// The 99th percentile.
    var p99: Double { quantile(0.99) }

    /// Half the interquartile range, which is not affected by single disturbed rounds.
    var spread: Double { (quantile(0.75) - quantile(0.25)) / 2 }

    /// Returns a quantile by linear interpolation, the default of most statistics programs.
    private func quantile(_ part: Double) -> Double {
        let place = part * Double(sorted.count - 1), below = Int(place), above = min(below + 1, sorted.count - 1)
        return sorted[below] + (sorted[above] - sorted[below]) * (place - Double(below))
    }
}

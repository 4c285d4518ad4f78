/// The result of a row, in the format of `bench --json`.
struct RowResult: Sendable, Hashable {
    var suite: String
    var name: String
    var median: Double
    var unit: Row.Unit
    var spread: Double
    var baseline: String?
    var ratio: Double?
    /// The bound of this run, scaled if necessary.
    var target: Double?
    var met: Bool?
    /// The side of the bound on which the figure must be.
    var side: Target.Side?
    /// The figure to which the bound applies.
    var subject: Target.Subject?

    /// Creates the result of a row, or returns `nil` if it was not measured.
    ///
    /// - Parameters:
    ///   - samples: The samples of all rows that were measured in the same rounds.
    ///   - reference: The name of the row by which bounds in nanoseconds are scaled.
    init?(_ row: Row, in suite: String, _ samples: [String: Sample], reference: String?) {
        guard let sample = samples[row.name] else { return nil }
        (self.suite, name, median, unit, spread, baseline) = (
            suite, row.name, sample.figure(of: row.summary), row.unit, sample.spread, row.baseline
        )
        if let base = row.baseline.flatMap({ samples[$0]?.median }), base > 0 { ratio = median / base }
        guard let target = row.target else { return }
        (side, subject) = (target.side, target.subject)
        self.target = target.bound(reference: reference.flatMap { samples[$0]?.median })
        if let bound = self.target, let figure = subject == .ratio ? ratio : median {
            met = target.isMet(by: figure, bound: bound)
        }
    }
}

extension RowResult: Encodable {
    private enum CodingKeys: String, CodingKey { case suite, name, median, unit, spread, baseline, ratio, target, met }

    /// Encodes all keys, with `null` for those that do not apply.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(suite, forKey: .suite)
        try container.encode(name, forKey: .name)
        try container.encode(median.thousandths, forKey: .median)
        try container.encode(unit.rawValue, forKey: .unit)
        try container.encode(spread.thousandths, forKey: .spread)
        try container.encode(baseline, forKey: .baseline)
        try container.encode(ratio?.thousandths, forKey: .ratio)
        try container.encode(target?.thousandths, forKey: .target)
        try container.encode(met, forKey: .met)
    }
}

extension Sample {
    fileprivate func figure(of summary: Row.Summary) -> Double {
        switch summary {
        case .median: median
        case .highest: highest
        }
    }
}

extension Double {
    /// The number rounded to three decimals.
    fileprivate var thousandths: Double { (self * 1_000).rounded() / 1_000 }
}

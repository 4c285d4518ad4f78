import BackplaneTools

/// The result of a row, in the format of `--json`.
struct RowResult: Sendable, Encodable {
    var suite: String
    var name: String
    var unit: Row.Unit
    var median: Double
    var spread: Double
    var baseline: String?
    var baselineMedian: Double?
    var ratio: Double?
    /// The bound, for the ratio if there is one in the target, otherwise for the median.
    var target: Double?
    var met: Bool?
    private let bound: Target?

    private enum CodingKeys: String, CodingKey {
        case suite, name, unit, median, spread, baseline, baselineMedian, ratio, target, met
    }

    /// Summarises the figures of all rounds.
    init(_ row: Row, in suite: String, _ figures: [Figure]) {
        let sample = Sample(figures.map(\.value)), others = figures.compactMap(\.baseline)
        (self.suite, name, unit, bound) = (suite, row.name, row.unit, row.target)
        (median, spread) = (sample.median.thousandths, sample.spread.thousandths)
        if !others.isEmpty {
            let other = Sample(others).median
            (baseline, baselineMedian) = (row.baseline, other.thousandths)
            if other > 0 { ratio = (sample.median / other).thousandths }
        }
        target = row.target?.bound.thousandths
        if let target = row.target, let figure = target.isRatio ? ratio : sample.median {
            met = target.isMet(by: figure)
        }
    }

    private static let header = ["SUITE", "FIGURE", "MEDIAN", "", "BASELINE", "", "RATIO", "TARGET", "MET"]
    private static let numbers: Set = [2, 3, 4, 6, 7]

    private var cells: [String] {
        [
            suite, name, "\(median.readable) \(unit.rawValue)", "± \(spread.readable(as: median))",
            baselineMedian.map { "\($0.readable) \(unit.rawValue)" } ?? "", baseline ?? "",
            ratio.map { "\($0.readable) ×" } ?? "",
            bound.map { "\($0.side.rawValue) \($0.bound.readable) \($0.isRatio ? "×" : unit.rawValue)" } ?? "",
            met.map { $0 ? "yes" : "no" } ?? "",
        ]
    }

    /// Returns an aligned table of results, with missed targets in red.
    static func table(_ results: [RowResult], colour: Bool) -> [String] {
        let rows = [header] + results.map(\.cells)
        let widths = header.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return zip(rows, [nil] + results.map(\.met)).map { row, met in
            var line = row.indices.map { column in
                let cell = row[column], space = String(repeating: " ", count: widths[column] - cell.count)
                return numbers.contains(column) ? space + cell : cell + space
            }.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return colour && met == false ? "\u{1B}[31m\(line)\u{1B}[0m" : line
        }
    }

    /// Returns the number of targets met, and a legend of the table.
    static func summary(_ results: [RowResult]) -> String {
        let bounded = results.compactMap(\.met)
        let met = bounded.isEmpty ? "" : "\(bounded.count(where: \.self)) of \(counted(bounded.count, "target")) met; "
        return met + "± is half the interquartile range of the rounds, RATIO the median divided by the baseline's"
    }
}

extension Double {
    /// The number rounded to three decimals.
    fileprivate var thousandths: Double { (self * 1_000).rounded() / 1_000 }

    /// The number with at least three significant digits: 1.19, 32.3, 12100.
    fileprivate var readable: String { readable(as: self) }

    /// Returns the number with as many decimals as `other`.
    fileprivate func readable(as other: Double) -> String {
        let places = other == 0 && self == 0 ? 0 : abs(other) < 9.995 ? 2 : abs(other) < 99.95 ? 1 : 0
        let power = [1, 10, 100][places], digits = Int((self * Double(power)).rounded())
        guard places > 0 else { return "\(digits)" }
        let decimals = String(abs(digits) % power), zeros = String(repeating: "0", count: places - decimals.count)
        return "\(digits < 0 ? "-" : "")\(abs(digits) / power).\(zeros)\(decimals)"
    }
}

import BackplaneTools

/// An aligned table of the results, with missed targets in red.
enum ResultTable {
    private static let header = ["ROW", "MEDIAN", "SPREAD", "RATIO", "TARGET", "MET", "BASELINE"]
    private static let figureColumns = 1...4

    static func lines(_ results: [RowResult], colour: Bool) -> [String] {
        let rows = [header] + results.map(cells)
        let widths = header.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        let mets = [nil] + results.map(\.met)
        return zip(rows, mets).map { row, met in
            var line = row.indices.map { column in
                let cell = row[column], space = String(repeating: " ", count: widths[column] - cell.count)
                let text = figureColumns.contains(column) ? space + cell : cell + space
                return header[column] == "MET" && colour ? coloured(text, met) : text
            }.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// Returns the number of targets met, and a legend of the table.
    static func summary(_ results: [RowResult], rounds: Int) -> String {
        let bounded = results.compactMap(\.met)
        let met = bounded.isEmpty ? "" : "\(bounded.count(where: \.self)) of \(counted(bounded.count, "target")) met; "
        let isScaled = results.contains { $0.subject == .scaledMedian && $0.target != nil }
        return """
            \(met)\(counted(rounds, "round")); SPREAD is half the interquartile range, RATIO the median divided by the baseline's
            """
                + (isScaled
                    ? "\nbounds in nanoseconds are for a machine where a direct async call takes \(Target.referenceCost.readable) ns, and scaled to this one"
                    : "")
    }

    private static func cells(_ result: RowResult) -> [String] {
        let unit = result.unit.rawValue
        let bound = result.target.map { "\($0.readable) \(result.subject == .ratio ? "×" : unit)" }
        return [
            result.name, "\(result.median.readable) \(unit)", "± \(result.spread.readable(as: result.median))",
            result.ratio.map { "\($0.readable) ×" } ?? "",
            bound.map { "\(result.side?.rawValue ?? "") \($0)" } ?? "", result.met.map { $0 ? "yes" : "no" } ?? "",
            result.baseline ?? "",
        ]
    }

    private static func coloured(_ text: String, _ met: Bool?) -> String {
        guard let met else { return text }
        return "\u{1B}[\(met ? 32 : 31)m\(text)\u{1B}[0m"
    }
}

extension Double {
    /// The number with at least three significant digits: 1.19, 32.3, 12100.
    fileprivate var readable: String { readable(as: self) }

    /// Returns the number with as many decimals as `other`.
    fileprivate func readable(as other: Double) -> String {
        let places = other == 0 && self == 0 ? 0 : abs(other) < 9.995 ? 2 : abs(other) < 99.95 ? 1 : 0
        let power = [1, 10, 100][places], digits = Int((self * Double(power)).rounded())
        guard places > 0 else { return "\(digits)" }
        let decimals = String(abs(digits) % power)
        return
            "\(digits < 0 ? "-" : "")\(abs(digits) / power).\(String(repeating: "0", count: places - decimals.count))\(decimals)"
    }
}

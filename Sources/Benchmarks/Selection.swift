/// The selection of the rows to measure.
enum Selection {
    /// Returns the rows that match `text` regardless of case, their baselines, and the reference row if a bound needs
    /// it.
    static func rows(_ rows: [Row], matching text: String?, reference: String?) -> [Row] {
        guard let text else { return rows }
        let matching = matches(rows, text)
        var names = Set(matching.map(\.name) + matching.compactMap(\.baseline))
        if let reference, matching.contains(where: { $0.target?.subject == .scaledMedian }) { names.insert(reference) }
        return rows.filter { names.contains($0.name) }
    }

    /// Returns the row with that name or, if there is none, all rows whose names contain `text`.
    static func matches(_ rows: [Row], _ text: String?) -> [Row] {
        guard let text = text?.lowercased() else { return rows }
        if let row = rows.first(where: { $0.name.lowercased() == text }) { return [row] }
        return rows.filter { $0.name.lowercased().contains(text) }
    }
}

/// Which rows of a suite are measured.
enum Selection {
    /// The rows that `text` selects, in upper or lower case, and what their targets need: baselines, and the row that
    /// nanosecond bounds are scaled by.
    static func rows(_ rows: [Row], matching text: String?, reference: String?) -> [Row] {
        guard let text else { return rows }
        let matching = matches(rows, text)
        var names = Set(matching.map(\.name) + matching.compactMap(\.baseline))
        if let reference, matching.contains(where: { $0.target?.subject == .scaledMedian }) { names.insert(reference) }
        return rows.filter { names.contains($0.name) }
    }

    /// The row of that name, or else the rows with `text` in their names, and no others.
    static func matches(_ rows: [Row], _ text: String?) -> [Row] {
        guard let text = text?.lowercased() else { return rows }
        if let row = rows.first(where: { $0.name.lowercased() == text }) { return [row] }
        return rows.filter { $0.name.lowercased().contains(text) }
    }
}

/// Names that exist, arranged for a message about one that does not.
package struct NameSuggestions {
    /// Those that are spelled almost like the wanted one, the nearest first.
    let nearMisses: [String]
    private let others: [String]

    /// Above these a comparison would take longer than it could help.
    private static let mostCandidates = 1_000, longestName = 64
    private static let mostListed = 20

    package init(for wanted: String, among names: some Sequence<String>) {
        let names = Set(names).subtracting([wanted]).sorted()
        var distances: [String: Int] = [:]
        if names.count <= Self.mostCandidates, wanted.utf8.count <= Self.longestName {
            for name in names where name.utf8.count <= Self.longestName {
                let distance = editDistance(wanted, name)
                if distance <= max(1, wanted.count / 3) { distances[name] = distance }
            }
        }
        nearMisses = distances.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
        others = names.filter { distances[$0] == nil }
    }

    /// "did you mean `a` or `b`?", or nothing.
    var question: String? {
        nearMisses.isEmpty ? nil : "did you mean " + nearMisses.prefix(3).map { "`\($0)`" }.joined(separator: " or ") + "?"
    }

    /// All names, near misses first, and how many are left out.
    package var list: String {
        Self.list(nearMisses + others)
    }

    static func list(_ names: [String]) -> String {
        let listed = names.prefix(mostListed).map { "`\($0)`" }.joined(separator: ", ")
        return names.count <= mostListed ? listed : "\(listed) and \(names.count - mostListed) more"
    }
}

/// The fewest insertions, deletions, replacements and swaps of neighbours between two words, upper and lower case being equal.
private func editDistance(_ a: String, _ b: String) -> Int {
    let (a, b) = (Array(a.lowercased()), Array(b.lowercased()))
    if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
    var (beforeLast, last) = ([Int](), Array(0...b.count))
    for i in 1...a.count {
        var row = [i]
        for j in 1...b.count {
            var best = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
            if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { best = min(best, beforeLast[j - 2] + 1) }
            row.append(best)
        }
        (beforeLast, last) = (last, row)
    }
    return last[b.count]
}

/// The existing names, arranged for a message about an unknown name.
package struct NameSuggestions {
    /// The names whose spelling is similar to the requested name, nearest first.
    package let nearMisses: [String]
    private let others: [String]

    /// The limits beyond which comparing names would take too long.
    private static let mostCandidates = 1_000, longestName = 64
    private static let mostListed = 20

    package init(for wanted: String, among names: some Sequence<String>) {
        let names = Set(names).subtracting([wanted]).sorted()
        var distances: [String: Int] = [:]
        if names.count <= Self.mostCandidates, wanted.utf8.count <= Self.longestName {
            let letters = Array(wanted.lowercased()), most = max(1, letters.count / 3)
            for name in names where name.utf8.count <= Self.longestName {
                distances[name] = editDistance(letters, Array(name.lowercased()), most: most)
            }
        }
        nearMisses = distances.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
        others = names.filter { distances[$0] == nil }
    }

    /// The name whose spelling is closest to the requested one; `nil` if there are no near misses.
    package var nearest: String? { nearMisses.first }

    package var isEmpty: Bool { nearMisses.isEmpty && others.isEmpty }

    /// The text "did you mean `a` or `b`?"; `nil` if there are no near misses.
    package var question: String? {
        nearMisses.isEmpty
            ? nil : "did you mean " + nearMisses.prefix(3).map { "`\($0)`" }.joined(separator: " or ") + "?"
    }

    /// The names, near misses first, followed by the number of omitted ones.
    package var list: String {
        Self.list(nearMisses + others)
    }

    package static func list(_ names: [String]) -> String {
        let listed = names.prefix(mostListed).map { "`\($0)`" }.joined(separator: ", ")
        return names.count <= mostListed ? listed : "\(listed) and \(names.count - mostListed) more"
    }
}

/// Returns the number of insertions, deletions, replacements and transpositions between two words; `nil` if it exceeds
/// `most`.
private func editDistance(_ a: [Character], _ b: [Character], most: Int) -> Int? {
    guard abs(a.count - b.count) <= most else { return nil }
    if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
    var (beforeLast, last) = ([Int](), Array(0...b.count))
    for i in 1...a.count {
        var row = [i]
        for j in 1...b.count {
            var best = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
            if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { best = min(best, beforeLast[j - 2] + 1) }
            row.append(best)
        }
        // No later row has less than this one's least.
        guard row.contains(where: { $0 <= most }) else { return nil }
        (beforeLast, last) = (last, row)
    }
    return last[b.count] <= most ? last[b.count] : nil
}

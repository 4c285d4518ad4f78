import Foundation

/// What came of an attack.
struct Row: Codable, Sendable {
    struct Finding: Codable, Sendable {
        var trial: Int
        var text: String
    }
    var name, what: String
    var trials = 0
    var outcomes: [String: Int] = [:]
    var findings: [Finding] = []
    var seconds = 0.0
    /// The trial that took longest, in seconds.
    var slowest = 0.0
    /// Why it was not made.
    var skipped: String?
}

/// What came of all attacks.
struct Report: Codable, Sendable {
    var seed: UInt64
    var attacks: [Row] = []

    var hasFindings: Bool { attacks.contains { !$0.findings.isEmpty } }

    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    var table: String {
        let rows =
            [["ATTACK", "TRIALS", "FINDINGS", "SECONDS", "SLOWEST", "WHAT CAME OF IT"]]
            + attacks.map { row in
                let outcomes = row.outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
                return [
                    row.name, "\(row.trials)", "\(row.findings.count)", "\(Int(row.seconds))",
                    "\(Int(row.slowest * 1_000)) ms",
                    row.skipped.map { "skipped: \($0)" } ?? outcomes.joined(separator: ", "),
                ]
            }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}

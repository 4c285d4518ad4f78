import BackplaneHost
import BackplaneNetwork

/// Rows that belong together, and what they share while they are measured.
package struct BenchSuite: Sendable {
    /// What is there for as long as the rows are measured.
    struct Opened: Sendable {
        /// Each after its baseline.
        var rows: [Row]
        /// What to know of the figures.
        var remark: String?
        var close: @Sendable () async -> Void
    }
    /// What the command line calls it.
    package var name: String
    /// The name of the row that nanosecond bounds are scaled by.
    var reference: String?
    /// Makes what the rows need, in a folder that is not there yet and is removed afterwards, beside one in memory (``BenchFolder``),
    /// with what computes a SHA-256, if anything does.
    var open: @Sendable (_ folder: String, _ digest: (any ContentDigest)?) async throws -> Opened

    /// All there are.
    package static let all: [BenchSuite] = [.boundary, .composition, .swap, .dev]
}

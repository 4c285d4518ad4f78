/// A group of rows, and the setup they share.
package struct BenchSuite: Sendable {
    /// The state of a suite while its rows are measured.
    struct Opened: Sendable {
        /// The rows, each after its baseline.
        var rows: [Row]
        /// A remark about the figures.
        var remark: String?
        var close: @Sendable () async -> Void
    }
    /// The name on the command line.
    package var name: String
    /// The name of the row by which bounds in nanoseconds are scaled.
    var reference: String?
    /// The function that sets up the suite.
    ///
    /// - Parameter folder: A folder that does not exist yet and is removed afterwards, beside one in memory
    ///   (``BenchFolder``).
    var open: @Sendable (_ folder: String) async throws -> Opened

    /// All suites.
    package static let all: [BenchSuite] = [
        .boundary, .streams, .operations, .definitions, .composition, .swap, .http, .routes, .screens, .store,
        .transfers, .dev,
    ]
}

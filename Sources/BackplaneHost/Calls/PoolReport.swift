import Backplane

/// The log messages about an occupied pool.
struct PoolReport {
    static let occupied =
        "Swift's thread pool is occupied: tasks of all components and of the host are waiting; candidates are the components with calls in flight"
    static let over = "Swift's thread pool is free again"

    /// The candidates as text, such as "Books of org.example.books 1.2.0 (libBooks.so): 2 calls for 1.5 s; Clock of …".
    let candidates: String

    init(_ candidates: [PoolCandidates.Occupant], at now: Deadline) {
        let parts = candidates.map { candidate in
            "\(candidate.name) of \(candidate.plugin): \(candidate.calls) call\(candidate.calls == 1 ? "" : "s") for \(Self.seconds(now - candidate.since))"
        }
        self.candidates =
            parts.isEmpty
            ? "none: a component or the program itself started the work" : parts.joined(separator: "; ")
    }

    func record(waited: Duration) -> LogRecord {
        LogRecord(
            level: .warning, source: "host", message: Self.occupied,
            metadata: ["candidates": candidates, "waited": Self.seconds(waited)])
    }

    func recordOver(lasted: Duration) -> LogRecord {
        LogRecord(
            level: .warning, source: "host", message: Self.over,
            metadata: ["candidates": candidates, "lasted": Self.seconds(lasted)])
    }

    /// Returns the duration in seconds with one decimal, such as "1.5 s".
    static func seconds(_ duration: Duration) -> String {
        let tenths = Int((duration / .seconds(1) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) s"
    }
}

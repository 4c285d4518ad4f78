#if Engines
import Foundation
import Testing

/// `backplane bench store`: what it prints; never how long something took.
@Suite(.timeLimit(.minutes(5)))
struct StoreBenchTests {
    /// What the store must reach: rows and their bounds.
    private static let bounds: [String: Double] = [
        "store, a durable save": 1 / 0.8, "store, a batch of 1,000": 1 / 0.7, "plugin, a batch of 1,000": 1 / 0.6,
        "store, a fetch among 100,000": 1 / 0.7, "first page of 100 among 1,000,000, sorted": 5,
        "middle page of 100 among 1,000,000, sorted": 5, "last page of 100 among 1,000,000, sorted": 5,
        "memory of a dump of 1,000,000": 64, "opening of 1 GB, closed": 50, "opening of 1 GB, left by a kill": 50,
        "8 readers beside 2 writers, p99": 1.5, "errors of readers and writers": 0, "lost updates of 2 writers": 0,
    ]

    @Test func `every bound of the store is a row`() async throws {
        let outcome = try await Tool().plain("bench", "store", "--quick", "--json")
        try #require(outcome.status == 0, "\(outcome.errors)")
        let rows = try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
        let names = try rows.map { try #require($0["name"] as? String) }
        for name in names { #expect(names.filter { $0.contains(name) } == [name], "--only can name each row alone") }
        for row in rows {
            let name = row["name"] as? String ?? "", target = row["target"] as? Double
            let bound = Self.bounds[name].map { ($0 * 1_000).rounded() / 1_000 }
            #expect(target == bound && row["suite"] as? String == "store", "\(name)")
            if row["unit"] as? String == "failures" { #expect(row["met"] as? Bool == true, "\(row)") }
        }
        #expect(Set(Self.bounds.keys).isSubset(of: names))
        // Both sides wait for the disk, in the same way.
        #expect(
            outcome.errors.contains("store: both sides: journal_mode wal, synchronous FULL, page_size 4096"),
            "\(outcome.errors)")
    }
}
#endif

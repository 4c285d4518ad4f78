#if Engines
import Foundation
import Testing

/// `backplane bench http`: what it prints; never how long something took.
@Suite(.timeLimit(.minutes(5)))
struct HTTPBenchTests {
    /// What exchanges must reach: rows and their bounds.
    private static let bounds: [String: Double] = [
        "1 KB, client, 1 at once": 1.15, "1 KB, client, 16 at once": 1.15, "1 KB, plugin, 1 at once": 1.3,
        "1 KB, plugin, 16 at once": 1.3, "down to a file, client": 1 / 0.9, "down to a file, plugin": 1 / 0.9,
        "up from a file, client": 1 / 0.9, "up from a file, plugin": 1 / 0.9, "memory of 1 GB down, client": 32,
        "memory of 1 GB down, plugin": 32, "memory of 1 GB up, client": 32, "memory of 1 GB up, plugin": 32,
        "memory of a slow consumer": 4,
        "1 KB of JSON, load": 1.2, "1 KB of JSON, plugin with an observer": 1.4, "1 MB of JSON, load": 1.02,
        "memory that 10,000 loads on 50 hosts add to 1,000": 16, "loads left of 10,000": 0,
        "failures of 10,000 loads": 0,
        "1 KB, bearer credential": 1.05, "expired token, 1,000 calls: refreshes": 1,
        "expired token, 1,000 calls: failed calls": 0, "expired token, a swap amid 1,000 calls: refreshes": 1,
        "expired token, a swap amid 1,000 calls: failed calls": 0,
    ]

    @Test func `every bound of exchanges is a row, beside its baseline`() async throws {
        let outcome = try await Tool().plain("bench", "http", "--quick", "--json")
        try #require(outcome.status == 0, "\(outcome.errors)")
        let rows = try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
        let names = try rows.map { try #require($0["name"] as? String) }
        for name in names { #expect(names.filter { $0.contains(name) } == [name], "--only can name each row alone") }
        for row in rows {
            let name = row["name"] as? String ?? ""
            let target = row["target"] as? Double, bound = Self.bounds[name]
            #expect((target == nil) == (bound == nil) && row["suite"] as? String == "http", "\(name)")
            // Figures are printed with four digits.
            #expect(abs((target ?? 0) - (bound ?? 0)) < 0.001, "\(name)")
            #expect(row["median"] is Double, "\(name)")
            if let baseline = row["baseline"] as? String { #expect(names.contains(baseline), "\(name)") }
        }
        #expect(Set(Self.bounds.keys).isSubset(of: names))
        #expect(names.contains("1 KB, client, 128 at once"), "a row without a bound")
    }
}
#endif

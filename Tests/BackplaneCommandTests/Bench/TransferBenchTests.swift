#if Engines
import Foundation
import Testing

/// `backplane bench transfers`: what it prints; never how long something took.
@Suite(.timeLimit(.minutes(5)))
struct TransferBenchTests {
    /// What transfers must reach: rows and their bounds.
    private static let bounds: [String: Double] = [
        "1,000 transfers of 1 MB, 64 at once": 1.4, "memory of 1,000 transfers of 1 MB": 16,
        "1 GB down, transfer": 1 / 0.9, "1 GB up, transfer": 1 / 0.9,
        "fetched again after kill -9, at 20 points of 1 GB": 1,
    ]

    @Test func `every bound of transfers is a row`() async throws {
        let outcome = try await Tool().plain("bench", "transfers", "--quick", "--json")
        try #require(outcome.status == 0, "\(outcome.errors)")
        let rows = try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
        let names = try rows.map { try #require($0["name"] as? String) }
        for name in names { #expect(names.filter { $0.contains(name) } == [name], "--only can name each row alone") }
        for row in rows {
            let name = row["name"] as? String ?? ""
            let target = row["target"] as? Double
            #expect(
                target.map { Int(($0 * 100).rounded()) } == Self.bounds[name].map { Int(($0 * 100).rounded()) },
                "\(name): \(String(describing: target))")
            #expect(row["suite"] as? String == "transfers", "\(name)")
        }
        #expect(Set(Self.bounds.keys).isSubset(of: names))
    }
}
#endif

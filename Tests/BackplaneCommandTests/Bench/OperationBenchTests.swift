import Foundation
import Testing

/// `backplane bench operations`: what it prints; never how long something took.
@Suite(.timeLimit(.minutes(5)))
struct OperationBenchTests {
    /// What graphs must reach: rows and their bounds.
    private static let bounds: [String: Double] = [
        "100,000 nodes with 200,000 edges": 4, "memory of a node with 2 edges": 600,
        "a node of 1,000,000, in layers": 3, "a node of 1,000,000, in a chain": 3,
        "cancelling 100,000 nodes that wait": 1,
        "200 swaps under a named graph, nodes not done": 0, "200 swaps under a named graph, nodes done twice": 0,
        "200 swaps under a named graph, nodes whose value was lost": 0,
        "200 swaps under a named graph, graphs that ended meanwhile": 0,
    ]

    @Test func `every bound of operations is a row`() async throws {
        let outcome = try await Tool().plain("bench", "operations", "--quick", "--json")
        try #require(outcome.status == 0, "\(outcome.errors)")
        let rows = try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
        let names = try rows.map { try #require($0["name"] as? String) }
        for name in names { #expect(names.filter { $0.contains(name) } == [name], "--only can name each row alone") }
        for row in rows {
            let name = row["name"] as? String ?? ""
            #expect(row["target"] as? Double == Self.bounds[name] && row["suite"] as? String == "operations", "\(name)")
        }
        #expect(Set(Self.bounds.keys).isSubset(of: names))
        let beside = rows.first { $0["name"] as? String == "10,000 nodes beside them" }
        #expect(beside?["baseline"] as? String == "10,000 operations of Foundation's OperationQueue")
    }
}

import Foundation
import Testing

/// `backplane bench definitions`: what it prints; never how long something took.
@Suite(.timeLimit(.minutes(5)))
struct DefinitionBenchTests {
    /// What definitions must reach: rows and their bounds.
    private static let bounds: [String: Double] = [
        "a definition of 500 methods, loaded": 3, "a call by name over its endpoint": 20,
        "a typed call of a definition, body unchanged": 1.1, "a typed call of a definition, body mapped": 1.5,
    ]

    @Test func `every bound of definitions is a row, beside its baseline`() async throws {
        let outcome = try await Tool().plain("bench", "definitions", "--quick", "--json")
        try #require(outcome.status == 0, "\(outcome.errors)")
        let rows = try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
        let names = try rows.map { try #require($0["name"] as? String) }
        for name in names { #expect(names.filter { $0.contains(name) } == [name], "--only can name each row alone") }
        for row in rows {
            let name = row["name"] as? String ?? ""
            #expect(
                row["target"] as? Double == Self.bounds[name] && row["suite"] as? String == "definitions", "\(name)")
            if let baseline = row["baseline"] as? String { #expect(names.contains(baseline), "\(name)") }
        }
        #expect(Set(Self.bounds.keys).isSubset(of: names))
    }
}

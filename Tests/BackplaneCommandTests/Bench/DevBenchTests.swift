import Foundation
import Testing

/// `backplane bench dev`: that new code answers, and which bounds there are; never how long something took.
@Suite(.timeLimit(.minutes(5)))
struct DevBenchTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// Those that build a package take a minute, and are the same two steps as the tests of `backplane new` and
    /// `backplane dev`.
    @Test func `a class with another name answers under dev together with its manifest`() async throws {
        let outcome = try await tool.plain("bench", "dev", "--only", "renamed class", "--quick", "--json")
        try #require(outcome.status == 0, "\(outcome.errors)")
        let rows = try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
        #expect(rows.count == 2)
        for row in rows { #expect(row["target"] as? Double == 100 && row["median"] as? Double ?? 0 > 0) }
    }

    @Test func `a crash names its plugin under dev`() async throws {
        let outcome = try await tool.plain("bench", "dev", "--only", "crash to the line", "--quick", "--json")
        try #require(outcome.status == 0, "\(outcome.errors)")
        let rows = try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
        #expect(rows.count == 2)
        for row in rows { #expect(row["target"] as? Double == 100 && row["median"] as? Double ?? 0 > 0) }
    }

    @Test func `a library that was closed answers under dev, in Swift and in C`() async throws {
        let outcome = try await tool.plain("bench", "dev", "--only", "to first answer", "--quick", "--json")
        try #require(outcome.status == 0, "\(outcome.errors)")
        let rows = try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
        let names = ["Swift", "C"].flatMap { plugin in
            ["median", "slowest"].map { "closed by the linker to first answer, \(plugin), \($0)" }
        }
        #expect(rows.map { $0["name"] as? String } == names)
        for row in rows {
            #expect(
                row["target"] as? Double == 100 && row["suite"] as? String == "dev" && row["median"] as? Double ?? 0 > 0
            )
        }
    }
}

import Foundation
import TestFixtures
import Testing

/// Libraries that do wrong, or are something else altogether (Tests/Plugins/Hostile): what a host in a process of its
/// own says of each, and what `backplane validate` finds.
@Suite(.nightly, .timeLimit(.minutes(20)))
struct HostileTests {
    private struct Row: Decodable {
        struct Finding: Decodable { var id: String, details: [String] }
        var name, what: String
        var host: [String]
        var hostSurvived, endsHost: Bool
        var findings: [Finding]
        var leftOut: String?

        var text: String {
            let found =
                findings.isEmpty
                ? ["  validate: nothing\n"]
                : findings.map { finding in finding.details.map { "  \(finding.id): \($0)\n" }.joined() }
            return "\(name): \(what)\n" + host.map { "  host: \($0)\n" }.joined() + found.joined()
        }
    }

    /// All of them are built and tried once, for all tests.
    private static let run = Task {
        let tool = try RunningTool(["--json"], of: BuiltProducts.folder + "/hostile", input: nil)
        let outcome = await tool.end()
        guard outcome.status == 0 else { throw NotRun(description: outcome.errors) }
        return try JSONDecoder().decode([Row].self, from: Data(outcome.output.utf8))
    }
    private struct NotRun: Error, CustomStringConvertible { let description: String }

    @Test func `what a host says of each, and what validate finds, is as recorded`() async throws {
        // Who may read what, and make it, depends on who asks.
        let rows = try await Self.run.value.filter { !["file-sealed", "file-device-node"].contains($0.name) }
        #expect(rows.filter { $0.leftOut != nil }.map(\.name) == [])
        #expect(rows.count >= 136)
        try expectSnapshot(rows.map(\.text).joined(separator: "\n"), "hostile")
    }

    @Test func `no host hangs or crashes, but for a trap, an exit, and a constructor that never returns`() async throws
    {
        for row in try await Self.run.value { #expect(row.hostSurvived != row.endsHost, "\(row.text)") }
    }

    @Test func `a host that a trap ends says last whose it was`() async throws {
        let ended = try await Self.run.value.filter { $0.host.last?.contains("ended by signal") == true }
        #expect(ended.count >= 10)
        for row in ended {
            let words = try #require(row.host.dropLast().last)
            let name = "1-org.backplane.tests.hostile-generation-1-lib\(row.name).so"
            #expect(
                words.hasPrefix("last line: backplane: signal ")
                    && words.hasSuffix(" in code of org.backplane.tests.hostile, generation 1 (\(name))"),
                "\(row.text)")
        }
    }

    @Test func `validate finds what ends a host, and nothing in a library that does nothing wrong`() async throws {
        let rows = try await Self.run.value.filter { $0.leftOut == nil }
        #expect(rows.filter { $0.endsHost && $0.findings.isEmpty }.map(\.name) == [])
        // These do what they may: fail, be late, or carry more than they need; and what a manifest says is not known
        // here.
        #expect(
            rows.filter(\.findings.isEmpty).map(\.name) == [
                "good", "file-other-digest", "bytes-more", "entry-prints", "method-late", "stream-sound",
                "stream-waits",
                "step-create-fails", "step-activate-fails",
                "step-pool-used", "step-state-reorders",
            ])
    }
}

import Foundation
import TestFixtures
import Testing

/// The first line of what an author reads after a mistake: it names the cause, the place and the cure. For words of the
/// command line, `HelpTests` does.
///
/// Names are drawn with a seed, which is another one each night (``RunSeed``).
@Suite(.timeLimit(.minutes(10)))
struct FirstLineTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// Writes the example's manifest with one text replaced by another, and returns its path.
    private func manifest(_ text: String, becomes other: String) throws -> String {
        let original = try String(contentsOfFile: Tool.almanac, encoding: .utf8)
        try #require(original.contains(text))
        return try tool.write(original.replacing(text, with: other), as: "manifest.json")
    }

    private func firstLine(_ text: String) -> String { text.split(separator: "\n").first.map(String.init) ?? "" }

    @Test(arguments: 0..<1 as Range<UInt64>)
    func `a library that is misspelt`(seed: UInt64) async throws {
        var numbers = SeededNumbers(ofCase: seed)
        let right = numbers.pick(["Clock", "Almanac"]), wrong = Misspelling(of: right, besides: [], &numbers).text
        let manifest = try manifest(#""\#(right)""#, becomes: #""\#(wrong)""#)
        let checked = try await tool.run("check", manifest)
        #expect(checked.status == 1)
        let lines = checked.output.split(separator: "\n")
        let line = try #require(lines.first { $0.contains("error:") })
        #expect(line.hasPrefix("\(manifest):"), "\(line)")
        #expect(
            line.contains("the library `\(wrong)` was not found") && line.contains("did you mean `\(right)`?"),
            "\(line)")
        #expect(lines.count { $0.contains("error:") } == 1, "what follows from it is counted\n\(checked.output)")
        #expect(lines.contains { $0.contains("follow") && $0.contains("--all") }, "\(checked.output)")
        let all = try await tool.run("check", manifest, "--all").output
        #expect(all.contains("component.unknown-class"), "\(all)")

        let manager = right == "Clock" ? "ClockManager" : "AlmanacManager"
        let called = try await tool.run("call", manifest, manager, "now")
        #expect(called.status == 1 && firstLine(called.errors).contains("did you mean `\(right)`?"), "\(called.errors)")
        let ran = try await tool.run("run", manifest)
        #expect(ran.status == 1 && firstLine(ran.errors).contains("did you mean `\(right)`?"), "\(ran.errors)")
    }
}

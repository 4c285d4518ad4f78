import Foundation
import Testing

/// docs/testing.md shows parts of LibraryManagerTests.swift, and the two must not drift apart.
@Suite(.timeLimit(.minutes(1)))
struct DocumentationTests {
    private static func text(_ path: String) throws -> String {
        try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: path), encoding: .utf8)
    }

    /// Without what every line is indented by.
    private static func lines(_ text: some StringProtocol) -> [Substring] {
        let lines = Substring(text).split(separator: "\n", omittingEmptySubsequences: false)
        let indent = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return lines.map { $0.dropFirst(min(indent, $0.count)) }
    }

    @Test func `the examples of the page on testing are the tests that run`() throws {
        let tests = try Self.text("LibraryManagerTests.swift").split(separator: "\n", omittingEmptySubsequences: false)
        let examples = try Self.text("../../docs/testing.md").matches(of: /```swift example\n([\s\S]*?)```/).map(
            \.output.1)
        #expect(examples.count == 2)
        for example in examples {
            let wanted = Self.lines(example).dropLast()
            let isThere = tests.indices.dropLast(wanted.count - 1).contains { start in
                Self.lines(tests[start..<(start + wanted.count)].joined(separator: "\n")).elementsEqual(wanted)
            }
            #expect(isThere, "not in LibraryManagerTests.swift as it is shown:\n\(example)")
        }
    }
}

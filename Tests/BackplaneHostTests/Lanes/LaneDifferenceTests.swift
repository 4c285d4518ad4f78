import Foundation
import Testing

/// docs/lanes.md promises that the lanes differ in nothing but what it lists: each line is so, and none is without a
/// test.
@Suite(.timeLimit(.minutes(10)))
struct LaneDifferenceTests {
    @Test func `the lanes differ as each line says`() async throws {
        try await BothLanes.with { lanes in
            for difference in LaneDifference.all {
                do { try await difference.proof(lanes) } catch { Issue.record("\(difference.title): \(error)") }
            }
        }
    }

    @Test func `the list has a line for each test, in order, and a test for each line`() throws {
        let page = try String(
            contentsOf: URL(filePath: #filePath).appending(path: "../../../../docs/lanes.md").standardized,
            encoding: .utf8)
        let lines = page.split(separator: "\n").compactMap { $0.wholeMatch(of: /(\d+)\. \*\*(.+?)\.\*\* .+/) }
        #expect(lines.map { String($0.2) } == LaneDifference.all.map(\.title))
        #expect(lines.map { Int($0.1) } == LaneDifference.all.indices.map { $0 + 1 })
    }
}

import Foundation
import Testing

/// docs/lanes.md promises that the lanes differ in nothing but what it lists: each line is so, and none is without a test.
@Suite(.timeLimit(.minutes(2)))
struct LaneDifferenceTests {
    @Test(arguments: LaneDifference.all)
    func `the lanes differ as a line says`(difference: LaneDifference) async throws {
        try await difference.proof()
    }

    @Test func `the list has a line for each test, in order, and a test for each line`() throws {
        let page = try String(contentsOf: URL(filePath: #filePath).appending(path: "../../../../docs/lanes.md").standardized, encoding: .utf8)
        let lines = page.split(separator: "\n").compactMap { $0.wholeMatch(of: /(\d+)\. \*\*(.+?)\.\*\* .+/) }
        #expect(lines.map { String($0.2) } == LaneDifference.all.map(\.title))
        #expect(lines.map { Int($0.1) } == LaneDifference.all.indices.map { $0 + 1 })
    }
}

import Foundation
import Testing

@testable import Backplane
@testable import BackplaneBoundary

/// docs/state.md shows WordCount.swift, and what it says of it is so.
struct StatePageTests {
    @Test func `its example is the code of this test`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let page = try String(
            contentsOf: folder.appending(path: "../../../docs/state.md").standardized, encoding: .utf8)
        let code = try String(contentsOf: folder.appending(path: "WordCount.swift"), encoding: .utf8)
        let example = try #require(code.firstMatch(of: /\/\/ example\n([\s\S]*)\/\/ end/)).output.1
        #expect(page.contains("```swift\n\(example)```"))
    }

    @Test func `its migrations work, up and down`() async throws {
        let old = try StoredState(encoding: 3)
        #expect(try WordCount.migrateUp(old, from: 1).counts == ["earlier words": 3])
        let counter = try await ComponentInstance.of(WordCount.self)
        try await counter.importText("3", version: 1)
        #expect(try await counter.wire(WordCounting.self).count("whale", Call()) == 1)
        #expect(try await counter.exportText(version: 1) == "4")
    }
}

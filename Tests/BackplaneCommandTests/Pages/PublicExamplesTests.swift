import Foundation
import TestFixtures
import Testing

/// Examples of the documentation, which readers move into libraries of their own and make public.
struct PublicExamplesTests {
    /// The pages, the catalogs and the sources with their comments.
    private func files() throws -> [URL] {
        let folders = ["docs", "Sources/Backplane", "Sources/BackplaneTestKit", "Sources/BackplaneManagers"]
        return try [Page.root.appending(path: "README.md")]
            + folders.flatMap { folder in
                try FileManager.default.subpathsOfDirectory(atPath: Page.root.appending(path: folder).path)
                    .filter { $0.hasSuffix(".md") || $0.hasSuffix(".swift") }
                    .map { Page.root.appending(path: "\(folder)/\($0)") }
            }
    }

    /// The initialiser that Swift makes for a struct is internal, and a public contract needs a public one.
    @Test func `a contract has an initialiser that can be made public with the rest of it`() throws {
        let contract = /(?:public )?struct \w+: Contract \{[\s\S]*?\n(?:\/\/\/ )? *\}/
        var count = 0
        for file in try files() {
            for match in try String(contentsOf: file, encoding: .utf8).matches(of: contract) {
                count += 1
                #expect(match.output.contains("init() {}"), "\(file.lastPathComponent): \(match.output)")
            }
        }
        #expect(count >= 9)
    }
}

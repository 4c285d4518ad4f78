import Foundation
import TestFixtures
import Testing

/// What docs/boundary-in-c.md has a reader write and run, followed literally: a plugin in C, compiled, called and
/// swapped.
@Suite(.nightly, .timeLimit(.minutes(5)))
struct BoundaryInCTests {
    private let tool: Tool
    private let packages: PackagesFolder
    private let reader: Reader
    private let page: Page

    init() throws {
        tool = try Tool()
        packages = try PackagesFolder()
        reader = Reader(in: packages, with: tool)
        page = try Page("docs/boundary-in-c.md")
    }

    @Test func `a plugin from nothing prints what the page shows, and keeps its state in a swap`() async throws {
        let start = try #require(page.blocks.firstIndex { $0.kind == "serve" })
        #expect(try reader.follow(page.blocks[..<start]).outputs == 3)

        let words = page.blocks[start].text.split(separator: " ").map { $0.trimmingCharacters(in: .newlines) }
        #expect(words.prefix(2) == ["backplane", "run"])
        let host = try RunningTool(
            Array(words.dropFirst()) + ["--data", tool.data, "--load-folder", tool.loads], input: nil,
            environment: ["XDG_RUNTIME_DIR": tool.folder],
            in: packages.path)
        try #require(await host.says("up;"), "\(host.output)\(host.errors)")
        let (printed, outputs) = try reader.follow(page.blocks[(start + 1)...])
        #expect(printed.contains("state `kitchen` 1, 4 bytes carried over"), "\(printed)")
        #expect(outputs == 1)
        host.signal(SIGTERM)
        #expect(await host.end().status == 0)
    }
}

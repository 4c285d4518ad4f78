import Foundation
import TestFixtures
import Testing

/// What docs/boundary-in-c.md has a reader write and run, followed literally: a plugin in C, compiled, called and
/// swapped.
@Suite(.timeLimit(.minutes(5)))
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

    /// The two are for readers of the header, who should not have to look for what is asked of them there.
    @Test func `every function that a component may have is in the page's list`() throws {
        let header = try String(
            contentsOf: Page.root.appending(path: "Sources/CBackplane/include/backplane.h"), encoding: .utf8)
        let component = try #require(
            header.firstMatch(of: /typedef struct bp_component \{([\s\S]*?)\} bp_component;/)?.output.1)
        let functions = component.matches(of: /bp_(?:create|step|release|invoke|cancel|review) _Nullable (\w+);/).map {
            String($0.output.1)
        }
        #expect(functions.count == 10)
        let rows = try String(contentsOf: Page.root.appending(path: "docs/boundary-in-c.md"), encoding: .utf8).split(
            separator: "\n"
        ).filter { $0.hasPrefix("| `") }
        for function in functions { #expect(rows.contains { $0.contains("`\(function)`") }, "\(function)") }
    }
}

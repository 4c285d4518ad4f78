import Foundation
import TestFixtures
import Testing

/// What docs/boundary-in-rust.md has a reader run, followed literally, and what it shows of the plugin in Rust.
@Suite(.nightly, .timeLimit(.minutes(5)))
struct BoundaryInRustTests {
    private let page: Page

    init() throws { page = try Page("docs/boundary-in-rust.md") }

    @Test func `the plugin is built, validated, called and swapped as the page says`() async throws {
        guard let compiler = RustCompiler.path else { try Test.cancel("\(RustCompiler.isMissing)") }
        let tool = try Tool(), packages = try PackagesFolder()
        let folder = URL(filePath: compiler).deletingLastPathComponent().path
        let path = (packages.environment["PATH"] ?? "") + ":" + folder
        let reader = Reader(in: packages, with: tool, ["PATH": path])
        let start = try #require(page.blocks.firstIndex { $0.kind == "serve" })
        #expect(try reader.follow(page.blocks[..<start]).outputs == 3)

        let words = page.blocks[start].text.split(separator: " ").map { $0.trimmingCharacters(in: .newlines) }
        #expect(words.prefix(2) == ["backplane", "run"])
        let host = try RunningTool(
            Array(words.dropFirst()) + ["--data", tool.data, "--load-folder", tool.loads], input: nil,
            environment: ["XDG_RUNTIME_DIR": tool.folder], in: packages.path)
        try #require(await host.says("up;"), "\(host.output)\(host.errors)")
        let (printed, outputs) = try reader.follow(page.blocks[(start + 1)...])
        #expect(printed.contains("state `tally` 1, 2 bytes carried over"), "\(printed)")
        #expect(outputs == 1)
        host.signal(SIGTERM)
        #expect(await host.end().status == 0)
    }
}

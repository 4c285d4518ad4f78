import Foundation
import TestFixtures
import Testing

/// What docs/server.md has a reader create, serve and request, followed literally, but for the port.
@Suite(.nightly, .timeLimit(.minutes(15)))
struct ServerPageTests {
    private let tool: Tool
    private let packages: PackagesFolder
    private let reader: Reader

    init() throws {
        tool = try Tool()
        packages = try PackagesFolder()
        reader = Reader(in: packages, with: tool)
    }

    @Test(.enabled(if: PeerServer.isThere("curl"), "curl is not installed"))
    func `an application is created and served, and its answers are those of the page`() async throws {
        let blocks = try Page("docs/server.md").blocks, start = try #require(blocks.firstIndex { $0.kind == "serve" })
        try reader.follow(blocks[..<start])
        let words = blocks[start].text.split(whereSeparator: \.isWhitespace).map(String.init)
        #expect(words == ["backplane", "run"])
        let server = try RunningTool(
            words.dropFirst() + ["--serve", "127.0.0.1:0", "--data", tool.data, "--load-folder", tool.loads],
            input: nil, environment: reader.environment, in: packages.path + "/Harbour")
        try #require(await server.says("127.0.0.1:"), "\(server.output)\(server.errors)")
        try #require(await server.says("up;"))
        let address = try #require(server.output.firstMatch(of: /127\.0\.0\.1:[0-9]+/)).output
        let rest = blocks[(start + 1)...].map { block in
            var block = block
            block.text.replace("127.0.0.1:8080", with: address)
            return block
        }
        #expect(try reader.follow(rest).outputs == 1)
        // The routes of the page compile.
        _ = try reader.run("cd Harbour\nswift build\n")
        #expect(packages.fetched() == ["swift-argument-parser"])
        server.signal(SIGTERM)
        #expect(await server.end().status == 0)
    }
}

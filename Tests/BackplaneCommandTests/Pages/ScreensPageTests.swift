#if Engines
import Foundation
import TestFixtures
import Testing

/// What docs/screens.md and docs/screens-in-programs.md have a reader create, test and open, followed literally but for
/// the port.
@Suite(.nightly, .timeLimit(.minutes(15)))
struct ScreensPageTests {
    private let tool: Tool
    private let packages: PackagesFolder
    private let reader: Reader

    init() throws {
        tool = try Tool()
        packages = try PackagesFolder()
        reader = Reader(in: packages, with: tool)
    }

    @Test func `an application of two plugins is created and tested, and its first page opens`() async throws {
        let blocks = try Page("docs/screens.md").blocks, start = try #require(blocks.firstIndex { $0.kind == "serve" })
        try reader.follow(blocks[..<start])
        let words = blocks[start].text.split(whereSeparator: \.isWhitespace).map(String.init)
        #expect(words == ["backplane", "run", "--web"])
        let server = try RunningTool(
            ["run", "--web-address", "127.0.0.1:0", "--data", tool.data, "--load-folder", tool.loads],
            input: nil, environment: reader.environment, in: packages.path + "/reading")
        try #require(await server.says("up;"), "\(server.output)\(server.errors)")
        let address = try #require(server.output.firstMatch(of: #/screens (http://127.0.0.1:([0-9]+))(/\?token=\w+)/#))
        let port = try #require(UInt16(address.2))
        let signIn = try RawClient(port: port)
        signIn.send("GET \(address.3) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close", "", "")
        let answer = signIn.receive()
        let cookie = try #require(answer.firstMatch(of: #/[Ss]et-[Cc]ookie: ([^;]+);/#)).1
        let client = try RawClient(port: port)
        client.send("GET / HTTP/1.1", "Host: 127.0.0.1:\(port)", "Cookie: \(cookie)", "Connection: close", "", "")
        let page = client.receive()
        #expect(page.contains("Moby-Dick") && page.contains("<title>Books</title>"))
        server.signal(SIGTERM)
        #expect(await server.end().status == 0)
    }

    @Test func `a program with screens of its own is created and tested, and shows them`() throws {
        let (printed, _) = try reader.follow(Page("docs/screens-in-programs.md").blocks)
        #expect(printed.contains("4 tests"), "\(printed)")
        #expect(try reader.run("cd tracker\necho q | swift run Tracker\n").contains("(Records)"))
        #expect(packages.fetched() == ["swift-argument-parser"])
    }
}
#endif

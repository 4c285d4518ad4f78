import Foundation
import TestFixtures
import Testing

/// What the README and the page on testing say a reader can write and run, followed literally.
@Suite(.nightly, .timeLimit(.minutes(10)))
struct ReadmeTests {
    @Test func `a plugin, from nothing, says what the README says`() async throws {
        let packages = try PackagesFolder(),
            (_, outputs) = try Reader(in: packages, with: Tool()).follow(Page("README.md").blocks)
        #expect(outputs == 1, "the README shows what one run prints")
        #expect(packages.fetched() == ["swift-argument-parser"])
    }

    @Test func `a plugin and its tests, from nothing, pass as the page on testing says`() async throws {
        let packages = try PackagesFolder(),
            (printed, _) = try Reader(in: packages, with: Tool()).follow(Page("docs/reference/testing.md").blocks)
        #expect(printed.contains("it greets by the hour") && printed.contains("1 test"), "\(printed)")
        #expect(packages.fetched() == ["swift-argument-parser"])
    }

    @Test func `a plugin with a package and a database of its own runs in a host with another copy`() throws {
        let (_, outputs) = try Reader(in: PackagesFolder(), with: Tool()).follow(
            Page("docs/reference/packages-in-plugins.md").blocks)
        #expect(outputs == 1)
    }
}

/// The pages on plugins in C and in Rust, followed literally.
@Suite(.nightly, .timeLimit(.minutes(5)))
struct BoundaryInLanguageTests {
    @Test func `a plugin in C is built, called and swapped as the page says`() async throws {
        try await follow("docs/reference/plugins-in-c.md", outputs: 2, carryingOver: "state `kitchen` 1, 4 bytes")
    }

    @Test func `a plugin in Rust is built, called and swapped as the page says`() async throws {
        guard let compiler = RustCompiler.path else { try Test.cancel("\(RustCompiler.isMissing)") }
        try await follow(
            "docs/reference/plugins-in-rust.md", outputs: 3, carryingOver: "state `tally` 1, 2 bytes",
            commands: URL(filePath: compiler).deletingLastPathComponent().path)
    }

    /// Follows a page to its host, which runs while the rest of the page is followed.
    private func follow(
        _ path: String, outputs: Int, carryingOver state: String, commands: String? = nil
    ) async throws {
        let page = try Page(path), tool = try Tool(), packages = try PackagesFolder()
        let search = [packages.environment["PATH"], commands].compactMap(\.self).joined(separator: ":")
        let reader = Reader(in: packages, with: tool, ["PATH": search])
        let start = try #require(page.blocks.firstIndex { $0.kind == "serve" })
        #expect(try reader.follow(page.blocks[..<start]).outputs == outputs)

        let words = page.blocks[start].text.split(separator: " ").map { $0.trimmingCharacters(in: .newlines) }
        #expect(words.prefix(2) == ["backplane", "run"])
        let host = try RunningTool(
            Array(words.dropFirst()) + ["--data", tool.data, "--load-folder", tool.loads], input: nil,
            environment: ["XDG_RUNTIME_DIR": tool.folder], in: packages.path)
        try #require(await host.says("up;"), "\(host.output)\(host.errors)")
        let swap = try reader.follow(page.blocks[(start + 1)...])
        #expect(swap.printed.contains("\(state) carried over") && swap.outputs == 1, "\(swap.printed)")
        host.signal(SIGTERM)
        #expect(await host.end().status == 0)
    }
}

/// What docs/reference/server.md has a reader create, serve and request, followed literally, but for the port.
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
        let blocks = try Page("docs/reference/server.md").blocks
        let start = try #require(blocks.firstIndex { $0.kind == "serve" })
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

#if Engines
/// The pages on screens, followed literally but for the port.
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
        let blocks = try Page("docs/reference/screens.md").blocks
        let start = try #require(blocks.firstIndex { $0.kind == "serve" })
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
        let (printed, _) = try reader.follow(Page("docs/reference/screens-in-programs.md").blocks)
        #expect(printed.contains("1 test"), "\(printed)")
        #expect(try reader.run("cd tracker\necho q | swift run Tracker\n").contains("Day 12"))
        #expect(packages.fetched() == ["swift-argument-parser"])
    }
}
#endif

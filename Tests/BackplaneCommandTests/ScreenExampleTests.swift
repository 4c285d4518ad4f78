#if Engines
import Foundation
import TestFixtures
import Testing

/// `backplane run` with the screens of the example.
@Suite(.timeLimit(.minutes(5)))
struct ScreenExampleTests {
    private let tool: Tool
    private static let manifest = Tool.manifests + "/bookshelf-screens.json", mocks = Tool.manifests + "/mocks"

    init() throws { tool = try Tool() }

    @Test func `they are shown in a browser, with mocks`() async throws {
        let running = try await tool.startRun(Self.manifest, "--web-address", "127.0.0.1:0", "--mock", Self.mocks)
        let line = try #require(running.output.firstMatch(of: #/screens (\S+) \(for one browser\)\n/#))
        let visitor = try ScreenVisitor(signingInAt: line.1)
        let page = try visitor.page()
        #expect(page.text.contains("<title>Catalogue</title>") && page.text.contains(">Loans</a>"))
        #expect(try visitor.events(of: page).receive(to: "Moby-Dick").hasSuffix("Moby-Dick"))
        running.signal(SIGTERM)
        #expect(await running.end().status == 0)
        #expect(tool.loadFolders() == [])
    }

    @Test func `a book is borrowed through a pipe, with mocks`() async throws {
        let screens = try PipedScreens(Self.manifest, "--mock", Self.mocks, with: tool)
        try await screens.choose("Moby-Dick")
        try await screens.choose("[ Borrow ]")
        #expect(await screens.process.says("• Moby-Dick  due in "), "\(screens.process.output)")
        try await quit(screens)
    }

    @Test func `without a server and mocks, the person can try again`() async throws {
        // Port 1 is nobody's.
        let text = try String(contentsOfFile: Self.manifest, encoding: .utf8)
        let path = try tool.write(text.replacing("127.0.0.1:8484", with: "127.0.0.1:1"), as: "m.json")
        let screens = try PipedScreens(path, with: tool)
        try await screens.choose("[ Try again ]")
        try await quit(screens)
    }

    private func quit(_ screens: PipedScreens) async throws {
        try screens.type("q")
        let outcome = await screens.process.end()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(tool.loadFolders() == [])
    }
}
#endif

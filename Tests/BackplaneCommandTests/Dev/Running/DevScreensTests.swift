#if Engines
import Backplane
import BackplaneHost
import Foundation
import TestFixtures
import Testing

@testable import BackplaneTools

/// Screens that are saved while they are open: those of the fixture, of which two editions are built.
@Suite(.timeLimit(.minutes(5)))
struct DevScreensTests {
    private let tool: Tool
    private let manifest: String

    init() throws {
        tool = try Tool()
        manifest = try tool.writeHarbourManifest()
    }

    /// Starts the loop, and signs a browser in.
    private func startWeb() async throws -> (dev: DevRun, visitor: ScreenVisitor) {
        let dev = try DevRun(manifest, "--web-address", "127.0.0.1:0", with: tool)
        try await dev.next("started")
        let address = try await dev.up().screens
        return (dev, try ScreenVisitor(signingInAt: try #require(address)))
    }

    @Test func `the page in an open browser changes`() async throws {
        let (dev, visitor) = try await startWeb()
        let page = try visitor.page(), stream = try visitor.events(of: page)
        #expect(page.text.contains("Ships of the first edition"))
        #expect(stream.receive(to: "Ships of the first edition").hasSuffix("Ships of the first edition"))
        try tool.writeHarbour(edition: 2)
        #expect(try await dev.swapped().plugins.map(\.toVersion) == ["2.0.0"])
        let news = stream.receive(to: "second edition")
        #expect(news.hasSuffix("Ships of the second edition") && news.contains(#""patches""#), "\(news)")
        try await dev.stop()
    }

    @Test func `an open screen that the new code refuses stops the swap, and its page goes on unchanged`()
        async throws
    {
        let (dev, visitor) = try await startWeb()
        let page = try visitor.page("/screens/harbour.ship?input=%7B%22ship%22%3A%22wreck%22%7D")
        let stream = try visitor.events(of: page)
        #expect(stream.receive(to: "Wreck of the first edition").hasSuffix("Wreck of the first edition"))
        try tool.writeHarbour(edition: 2)
        let refusal = try await dev.next("refused").line
        #expect(refusal.contains("the open screen `harbour.ship` cannot be assembled again"), "\(refusal)")
        #expect(refusal.contains("the second edition does not show wrecks"), "\(refusal)")
        try visitor.press("leave", on: page)
        let news = stream.receive(to: "Ships of the first edition")
        #expect(news.hasSuffix("Ships of the first edition"), "\(news)")
        #expect(!news.contains("second edition") && !news.contains("alertdialog"), "\(news)")
        try await dev.stop()
    }

    @Test func `the text in a terminal of another process changes`() async throws {
        let screens = try PipedScreens(manifest, with: tool)
        #expect(await screens.process.says("Ships of the first edition"), "\(screens.process.errors)")
        let dev = try DevRun(manifest, "--running", with: tool)
        try await dev.next("started")
        try await dev.up()
        try await dev.next("unchanged")
        try await dev.next("applied")
        try tool.writeHarbour(edition: 2)
        #expect(try await dev.swapped().plugins.map(\.toVersion) == ["2.0.0"])
        #expect(await screens.process.says("Ships of the second edition"), "\(screens.process.errors)")
        dev.process.signal(SIGTERM)
        try await dev.next("stopped")
        #expect(await dev.process.end().status == 0)
        try screens.type("q")
        #expect(await screens.process.end().status == 0)
        #expect(tool.loadFolders() == [])
    }
}
#endif

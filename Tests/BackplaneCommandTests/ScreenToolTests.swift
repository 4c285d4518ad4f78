#if Engines
import Backplane
import BackplaneHost
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

/// `backplane run` with screens, those of the fixture plugin.
@Suite(.timeLimit(.minutes(10)))
struct ScreenToolTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// Returns the answer to a request on a connection of its own.
    private func answer(_ path: String, at port: UInt16, cookie: Substring? = nil) throws -> String {
        let client = try RawClient(port: port), cookies = cookie.map { "Cookie: \($0)\r\n" } ?? ""
        client.send("GET \(path) HTTP/1.1", "Host: 127.0.0.1:\(port)\r\n\(cookies)Connection: close", "", "")
        return client.receive()
    }

    @Test func `the printed address signs one browser in, which stays signed in over a restart`() async throws {
        // A server that is started again needs the same port, which is part of the cookie's name.
        let port = try LoopbackSocket(backlog: nil).port, path = try tool.writeHarbourManifest()
        var cookie: Substring = ""
        for run in 0..<2 {
            let running = try await tool.startRun(path, "--web-address", "127.0.0.1:\(port)")
            let line = #/screens http://127.0.0.1:([0-9]+)(/\?token=[0-9a-f]+) \(for one browser\)\n/#
            let address = try #require(running.output.firstMatch(of: line))
            #expect(address.1 == "\(port)")
            if run == 0 {
                #expect(try answer("/", at: port).hasPrefix("HTTP/1.1 403 "))
                let signIn = try answer(String(address.2), at: port)
                #expect(signIn.hasPrefix("HTTP/1.1 303 "))
                cookie = try #require(signIn.firstMatch(of: #/[Ss]et-[Cc]ookie: ([^;]+);/#)).1
            }
            #expect(try answer("/", at: port, cookie: cookie).contains("Ships of the first edition"))
            running.signal(SIGTERM)
            let outcome = await running.end()
            #expect(outcome.status == 0 && outcome.output.hasSuffix("SIGTERM: stopping\nstopped\n"))
            #expect(!outcome.errors.contains("token="))
        }
    }

    @Test func `screens are text with numbers through a pipe, until the person quits`() async throws {
        let outcome = try await tool.run("run", try tool.writeHarbourManifest(), "--terminal", input: "q\n")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("Ships of the first edition") && !outcome.output.contains("up;"))
        #expect(tool.loadFolders() == [])
    }

    @Test func `a reader that has left ends the command in order, although there is nothing to write`() async throws {
        let screens = try PipedScreens(try tool.writeHarbourManifest(), reader: "head -1", with: tool)
        let outcome = await screens.process.end()
        #expect(outcome.output == "# Ships of the first edition\n")
        #expect(outcome.errors.hasSuffix("over, 0\n"), "\(outcome.errors)")
        #expect(tool.loadFolders() == [])
        let sockets = try FileManager.default.contentsOfDirectory(atPath: tool.sockets)
        #expect(!sockets.contains { $0.hasSuffix(".sock") }, "\(sockets)")
    }

    @Test func `a terminal that is closed stops the command in order`() async throws {
        let screens = try PipedScreens(try tool.writeHarbourManifest(), with: tool)
        try #require(await screens.process.says("Ships of the first edition"), "\(screens.process.errors)")
        screens.process.signal(SIGHUP)
        let outcome = await screens.process.end()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(tool.loadFolders() == [])
    }

    @Test func `without a screen to begin with, the command says what to add`() async throws {
        let unnamed = try await tool.run(
            "run", try tool.writeHarbourManifest(screens: nil), "--web-address", "127.0.0.1:0")
        #expect(unnamed.status == 1)
        #expect(
            unnamed.errors.contains("manifest.missing-key")
                && unnamed.errors.contains(#"add "screens": {"root": "harbour.counter"}"#), "\(unnamed.errors)")
        try EditionLibrary.write(1, to: tool.folder)
        let other = try tool.write(EditionLibrary.manifest, as: "n.json")
        for none in [
            try await tool.run("run", other, "--web-address", "127.0.0.1:0"),
            try await tool.run("run", other, "--terminal"),
        ] {
            #expect(none.status == 1)
            #expect(none.errors.contains("there are no screens"), "\(none.errors)")
        }
        #expect(tool.loadFolders() == [])
    }

    // MARK: The example

    private static let example = Tool.manifests + "/bookshelf-screens.json", mocks = Tool.manifests + "/mocks"

    @Test func `the example is shown in a browser, with mocks`() async throws {
        let running = try await tool.startRun(Self.example, "--web-address", "127.0.0.1:0", "--mock", Self.mocks)
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
        let screens = try PipedScreens(Self.example, "--mock", Self.mocks, with: tool)
        try await screens.choose("Moby-Dick")
        try await screens.choose("[ Borrow ]")
        #expect(await screens.process.says("• Moby-Dick  due in "), "\(screens.process.output)")
        try screens.type("q")
        let outcome = await screens.process.end()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(tool.loadFolders() == [])
    }
}
#endif

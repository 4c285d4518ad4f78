import Foundation
import TestFixtures
import Testing

@testable import BackplaneTools

/// `backplane dev` at a terminal: what a person types, and how the terminal is left.
@Suite(.timeLimit(.minutes(3)), .enabled(if: TerminalRun.isPossible, "the system gives no terminal"))
struct DevTerminalTests {
    private let tool: Tool
    private let editions: DevEditions

    init() throws {
        tool = try Tool()
        editions = try DevEditions("Edition", with: tool)
        try editions.save(EditionLibrary.manifest)
    }

    /// Runs it, says afterwards with which code it ended, and waits for a line: with the shell the terminal would be
    /// made ordinary in any case.
    private func start() async throws -> TerminalRun {
        let words =
            "'\(BuiltProducts.folder)/backplane' dev '\(editions.manifest)' --data '\(tool.data)' --load-folder '\(tool.loads)'"
        let terminal = try TerminalRun(
            "trap : INT; \(words); echo \"over, $?\"; read line",
            environment: ["XDG_RUNTIME_DIR": tool.folder, "TERM": "xterm"])
        #expect(await terminal.says("running"), "\(terminal.text)")
        #expect(await terminal.says(DevKey.legend), "\(terminal.text)")
        #expect(!terminal.isOrdinary, "keys come one by one, and are not shown")
        return terminal
    }

    @Test func `keys do what they are said to do, and q leaves the terminal as it was`() async throws {
        let terminal = try await start()
        #expect(await terminal.says(DevKey.legend))
        try terminal.type("b")
        #expect(await terminal.says("nothing has been swapped yet"), "\(terminal.text)")
        try editions.rename(2)
        #expect(
            await terminal.says("org.example.edition 1.0.0 → 2.0.0, generation 1 → 2: swapped in"), "\(terminal.text)")
        try terminal.type("g")
        #expect(await terminal.says("2 generations"), "\(terminal.text)")
        try terminal.type("b")
        #expect(await terminal.says("org.example.edition 2.0.0 → 1.0.0, generation 2 → 1"), "\(terminal.text)")
        #expect(await terminal.says("r activates the newest build again"), "\(terminal.text)")
        try terminal.type("r")
        #expect(
            await terminal.says("org.example.edition 1.0.0 → 2.0.0, generation 1 → 3: swapped in"),
            "it goes forward again: \(terminal.text)")
        try terminal.type("S")
        #expect(await terminal.says("running", times: 2), "\(terminal.text)")
        #expect(
            try await tool.plain("call", "Edition", "edition", "--running").output == "2\n",
            "it begins with what lies there")
        try terminal.type("?x")
        #expect(await terminal.says(DevKey.legend, times: 2), "a key that means nothing does nothing")
        try terminal.type("q")
        #expect(await terminal.says("over, 0"), "\(terminal.text)")
        #expect(terminal.isOrdinary)
        try terminal.type("\n")
        #expect(await terminal.end())
        #expect(tool.loadFolders() == [])
    }

    @Test func `control-C stops in order, and leaves the terminal as it was`() async throws {
        let terminal = try await start()
        try terminal.type("\u{3}")
        #expect(await terminal.says("over, 0"), "\(terminal.text)")
        #expect(terminal.isOrdinary)
        #expect(tool.loadFolders() == [])
    }
}

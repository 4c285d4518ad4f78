import BackplaneNetwork
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneCommand

/// `backplane transfer` on a terminal: what is drawn again, and what remains.
@Suite(.timeLimit(.minutes(5)), .enabled(if: TerminalRun.isPossible, "the system gives no terminal"))
struct TransferTerminalTests {
    private let tool: Tool
    private let content = [UInt8]((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) })

    init() throws { tool = try Tool() }

    /// Runs a command on a terminal, which shows the exit code afterwards.
    private func run(_ command: String, rows: Int, columns: Int = 200) throws -> TerminalRun {
        try TerminalRun(
            "stty rows \(rows) cols \(columns); '\(BuiltProducts.folder)/backplane' \(command); echo \"over, $?\"",
            environment: ["XDG_RUNTIME_DIR": tool.folder, "TERM": "xterm"])
    }

    /// Begins a download in the running host, and waits until its server stalls.
    private func begin(_ url: String) async throws -> RunningTool {
        let name = try #require(url.split(separator: "/").last)
        let get = try tool.start(["transfer", "get", url, "\(tool.folder)/\(name)", "--running"])
        #expect(await get.logs("60 %"), "\(get.errors)")
        return get
    }

    private func stop(_ running: RunningTool) async {
        running.signal(SIGTERM)
        _ = await running.end()
    }

    @Test func `watch draws one table until nothing is open, and the line of what has finished remains`()
        async throws
    {
        let server = try TestServer(parts: content, stalls: 1), url = server.url("/whale.epub")
        let running = try await tool.startRun(Tool.almanac), get = try await begin(url)
        let list = try run("transfer list", rows: 24)
        #expect(await list.says("over, 0"), "\(list.text)")
        let listed = TerminalScreen(list.text, height: 24).lines
        #expect(listed.count == 3 && listed[0].hasPrefix("id ") && listed[1].hasPrefix(url), "\(listed)")

        let terminal = try run("transfer watch", rows: 24)
        #expect(await terminal.says("running  60 % of 1 MB"), "\(terminal.text)")
        #expect(try await tool.plain("transfer", "pause", url).status == 0)
        #expect(await terminal.says("paused  60 % of 1 MB"), "\(terminal.text)")
        let text = terminal.text
        let end = try #require(text.range(of: "60 % of 1 MB", options: .backwards)).upperBound
        let drawn = TerminalScreen(String(text[..<end]), height: 24).lines
        #expect(drawn.count == 2 && drawn[0].hasPrefix("id ") && drawn[1].hasPrefix(url), "\(drawn)")
        #expect(try await tool.plain("transfer", "resume", url).status == 0)
        #expect(await terminal.says("over, 0"), "\(terminal.text)")
        #expect(
            TerminalScreen(terminal.text, height: 24).lines
                == ["\(url): succeeded, 100 % of 1 MB, \(tool.folder)/whale.epub", "over, 0"])
        #expect(await get.end().status == 0)
        await stop(running)
    }

    @Test func `a table never has more lines than the terminal`() async throws {
        let server = try TestServer(parts: content, stalls: 3)
        let urls = ["a", "b", "c"].map { server.url("/\($0).epub") }
        let running = try await tool.startRun(Tool.almanac)
        var gets: [RunningTool] = []
        for url in urls { gets.append(try await begin(url)) }
        let terminal = try run("transfer watch", rows: 4)
        #expect(await terminal.says("… and 2 more", times: 2), "\(terminal.text)")
        #expect(TerminalScreen(terminal.text, height: 4).lines.count <= 3, "\(terminal.text)")
        for url in urls { #expect(try await tool.plain("transfer", "cancel", url).status == 0) }
        #expect(await terminal.says("over, 0"), "\(terminal.text)")
        let last = TerminalScreen(terminal.text, height: 4).lines
        #expect(last.count == 4 && last.dropLast().allSatisfy { $0.contains(": cancelled, ") }, "\(last)")
        for get in gets { #expect(await get.end().status == 1) }
        await stop(running)
    }

    @Test func `rows of any text fit on the terminal`() {
        let states = (0..<30).map { number in
            TransferState(id: "図書館/\(number)" + String(repeating: "鯨", count: 80), owner: "", isUpload: false)
        }
        for (columns, rows) in [(40, 10), (80, 24), (200, 32)] {
            let table = TransferTableView.table(states, columns, rows)
            #expect(table.count == min(rows - 1, 31))
            #expect(table.allSatisfy { $0.unicodeScalars.reduce(0) { $0 + ($1.value > 0x2FFF ? 2 : 1) } < columns })
            #expect(table.last == "… and \(30 - (rows - 3)) more" || rows == 32)
        }
    }
}

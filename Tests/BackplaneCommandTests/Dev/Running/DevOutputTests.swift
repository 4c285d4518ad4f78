import Backplane
import BackplaneHost
import Foundation
import Testing

@testable import BackplaneDev

/// Applications that print much, and readers that read little.
@Suite(.timeLimit(.minutes(3)))
struct DevOutputTests {
    private let tool: Tool
    private let editions: DevEditions

    init() throws {
        tool = try Tool()
        editions = try DevEditions("Edition", with: tool)
        try editions.save(EditionLibrary.manifest)
        _ = try EditionLibrary.compile(1, to: editions.folder, chats: 0)
    }

    /// `backplane dev --json` in a pipe to another program; how it ends is on standard error.
    private func shell(_ reader: String) throws -> RunningTool {
        let words =
            "'\(Tool.built)/backplane' dev '\(editions.manifest)' --data '\(tool.data)' --load-folder '\(tool.loads)' --json"
        let line =
            "{ sh -c \"echo \\$\\$ > '\(tool.folder)/id'; exec \(words)\"; echo \"it ended with $?\" >&2; } | \(reader)"
        return try RunningTool(["-c", line], of: "/bin/sh", input: nil, environment: ["XDG_RUNTIME_DIR": tool.folder])
    }

    private func id() throws -> pid_t {
        try #require(
            pid_t(String(contentsOfFile: tool.folder + "/id", encoding: .utf8).trimmingCharacters(in: .newlines)))
    }

    private func terminate() throws { kill(try id(), SIGTERM) }

    /// Fills the pipe to the reader, who does not read.
    private func fillOutput() throws {
        let pipe = open("/proc/\(try id())/fd/1", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        try #require(pipe >= 0)
        while write(pipe, "\n", 1) == 1 {}
        close(pipe)
    }

    @Test func `an application that prints without end keeps nothing from happening`() async throws {
        let dev = try DevRun(shell(#"grep --line-buffered -v '"event":"output"'"#), with: tool)
        try await dev.next("started")
        try await dev.up()
        try editions.rename(2)
        #expect(try await dev.swapped().plugins.map(\.toVersion) == ["2.0.0"])
        #expect(try await dev.call("Edition", "edition") == "2")
        try terminate()
        try await dev.next("stopped")
        #expect(try await dev.next("hostEnded", DevEvent.Ending.self).isInOrder)
        #expect(await dev.process.end().errors == "it ended with 0\n")
        #expect(tool.loadFolders() == [])
    }

    @Test func `without a reader the application waits, and a signal still ends it cleanly`() async throws {
        let gate = tool.folder + "/gate"
        try #require(mkfifo(gate, 0o600) == 0)
        // Whatever becomes of this test, the reader goes.
        let key = open(gate, O_RDWR | O_CLOEXEC)
        let process = try shell("{ grep -m 1 hostStarted; read line < '\(gate)'; }")
        #expect(await process.says("hostStarted"), "\(process.output)\(process.errors)")
        try fillOutput()
        try terminate()
        #expect(await process.logs("it ended with 1"), "not all was printed: \(process.errors)")
        #expect(tool.loadFolders() == [], "it stopped in order")
        _ = write(key, "\n", 1)
        close(key)
        #expect(await process.end().status == 0)
    }
}

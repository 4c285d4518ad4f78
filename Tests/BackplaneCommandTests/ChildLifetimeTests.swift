import Foundation
import TestFixtures
import Testing

/// The processes of `inspect` and `validate`, and those that a library starts in them: none is there when the command
/// has ended, however it did.
@Suite(.timeLimit(.minutes(5)))
struct ChildLifetimeTests {
    private let tool: Tool
    /// A pipe that the library opens and never closes: it ends when every process that came of the library has.
    private let pipe: String

    init() throws {
        tool = try Tool()
        pipe = tool.folder + "/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
    }

    /// A library whose entry starts a process that nobody's signals reach, and then does not return.
    private func library() throws -> String {
        try tool.writeHostile(["entered": "start_process(); for (;;) pause()", "pipe": pipe])
    }

    /// Reads in a thread of its own: `open` waits for the library, and `read` for the end of all who have the pipe.
    private func readPipe() -> (opened: AsyncStream<Void>, ended: AsyncStream<Void>) {
        let (opened, isOpen) = AsyncStream<Void>.makeStream(), (ended, isOver) = AsyncStream<Void>.makeStream(),
            path = pipe
        Thread.detachNewThread {
            let file = open(path, O_RDONLY)
            isOpen.finish()
            var byte: UInt8 = 0
            while read(file, &byte, 1) > 0 {}
            isOver.finish()
        }
        return (opened, ended)
    }

    @Test(arguments: ["inspect", "validate"], [SIGKILL, SIGINT])
    func `nothing outlives a command that is interrupted`(command: String, signal: Int32) async throws {
        let library = try library(), (opened, ended) = readPipe()
        let run = try tool.start([command, library, "--load-folder", tool.loads, "--timeout", "3600"])
        for await _ in opened {}
        run.signal(signal)
        #expect(await run.end().status == -signal)
        for await _ in ended {}
    }
}

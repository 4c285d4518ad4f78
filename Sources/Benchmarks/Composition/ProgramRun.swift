import Backplane
import BackplaneTools
import Foundation
import Glibc

/// A child process that runs this program or the command beside it, and does not outlive the measurement.
final class ProgramRun: Sendable {
    private let arguments: [String]
    /// The descriptor of the child's standard output, which can be read once.
    private let output: Int32
    private let process: SpawnedProcess

    /// Runs a program and, at the same time, `body` on a separate thread, which may block.
    ///
    /// Arguments that begin with a verb of this program run it; others are for `backplane`, which is built beside it.
    ///
    /// The child's standard error is that of this process. When `body` has returned or the task is cancelled, the child
    /// is killed if it is still running.
    ///
    /// - Parameter tool: A program that runs this one, with its arguments; empty to run this program directly.
    static func with<Value: Sendable>(
        _ arguments: [String], under tool: [String] = [], _ body: @escaping @Sendable (ProgramRun) throws -> Value
    ) async throws -> Value {
        let run = try ProgramRun(arguments, under: tool)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    let result = Result { try body(run) }
                    run.process.send(SIGKILL)
                    _ = run.process.wait()
                    continuation.resume(with: result)
                }
            }
        } onCancel: {
            run.process.send(SIGKILL)
        }
    }

    private init(_ arguments: [String], under tool: [String]) throws(BackplaneError) {
        self.arguments = arguments
        // By its path: in a process that callgrind runs, `/proc/self/exe` is callgrind to the system.
        let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path
        let isOwn = arguments.first.map(MainThread.measuringCommands.contains) ?? false
        let command = tool + [isOwn ? own : Self.command] + arguments
        let pipe = try ChildPipe(), nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { for end in [pipe.writing, nothing] { close(end) } }
        do throws(BackplaneError) {
            process = try SpawnedProcess(
                command[0], Array(command.dropFirst()),
                descriptors: [(STDIN_FILENO, nothing), (STDOUT_FILENO, pipe.writing)], group: .ours)
        } catch {
            close(pipe.reading)
            throw error
        }
        output = pipe.reading
    }

    deinit { close(output) }

    /// The path of the command `backplane`.
    static var command: String {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "backplane").path
    }

    var id: pid_t { process.id }

    /// Waits for output; returns `false` if the child ended without any.
    func speaks() -> Bool {
        var byte: UInt8 = 0
        return read(output, &byte, 1) == 1
    }

    /// Reads the output up to the end of its first line.
    func line() -> Data {
        var line = Data(), byte: UInt8 = 0
        while read(output, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        return line
    }

    /// Reads the output to its end.
    func text() throws -> Data {
        try FileHandle(fileDescriptor: output, closeOnDealloc: false).readToEnd() ?? Data()
    }

    /// Reads the output to its end without keeping it, and calls a function before each part.
    func discard(_ body: () -> Void) throws {
        let handle = FileHandle(fileDescriptor: output, closeOnDealloc: false)
        repeat { body() } while try handle.read(upToCount: 1 << 16)?.isEmpty == false
    }

    /// Waits until the child has ended, ignoring its output.
    ///
    /// - Throws: `component.failed` unless it ended with exit code 0.
    func requireSuccess() throws {
        _ = try text()
        guard let ending = process.wait(), ending != .exit(0) else { return }
        throw BackplaneError(.componentFailed, "`backplane \(arguments.joined(separator: " "))` failed: \(ending.text)")
    }

    /// Asks the child to stop.
    func stop() { process.send(SIGTERM) }
}

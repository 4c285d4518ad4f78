import Backplane
import BackplaneProcesses
import Foundation
import Glibc

/// One more run of this program, which does not outlive whoever waits for it.
final class ProgramRun: Sendable {
    private let arguments: [String]
    /// Its standard output, to be read once.
    private let output: Int32
    private let process: SpawnedProcess

    /// Runs this program, and `body` beside it on a thread of its own, where it may wait.
    ///
    /// What the program says on standard error is passed on. When `body` has returned, or the task is cancelled, it is killed if it still runs.
    static func with<Value: Sendable>(_ arguments: [String], _ body: @escaping @Sendable (ProgramRun) throws -> Value) async throws -> Value {
        let run = try ProgramRun(arguments)
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

    private init(_ arguments: [String]) throws(BackplaneError) {
        self.arguments = arguments
        let pipe = try ChildPipe(), nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { for end in [pipe.writing, nothing] { close(end) } }
        do throws(BackplaneError) {
            process = try SpawnedProcess(nil, arguments, descriptors: [(STDIN_FILENO, nothing), (STDOUT_FILENO, pipe.writing)], group: .ours)
        } catch {
            close(pipe.reading)
            throw error
        }
        output = pipe.reading
    }

    deinit { close(output) }

    var id: pid_t { process.id }

    /// Waits until it says something; `false`: it ended without a word.
    func speaks() -> Bool {
        var byte: UInt8 = 0
        return read(output, &byte, 1) == 1
    }

    /// All that it has to say.
    func text() throws -> Data {
        try FileHandle(fileDescriptor: output, closeOnDealloc: false).readToEnd() ?? Data()
    }

    /// Waits until it ends; it may say nothing that matters meanwhile.
    func requireSuccess() throws {
        _ = try text()
        guard let ending = process.wait(), ending != .exit(0) else { return }
        throw BackplaneError(.componentFailed, "`backplane \(arguments.joined(separator: " "))` failed: \(ending.text)")
    }

    /// Asks it to stop.
    func stop() { process.send(SIGTERM) }
}

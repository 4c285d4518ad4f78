import Backplane
import Foundation

/// A child process that prints a line once it serves, and runs until it is stopped.
final class ServerProcess: Sendable {
    private let line: AsyncThrowingStream<Data, any Error>
    private let isStopped = DispatchSemaphore(value: 0)

    init(_ arguments: [String]) {
        let (line, printed) = AsyncThrowingStream.makeStream(of: Data.self)
        self.line = line
        Task { [isStopped] in
            do {
                try await ProgramRun.with(arguments) { run in
                    printed.yield(run.line())
                    isStopped.wait()
                }
                printed.finish()
            } catch {
                printed.finish(throwing: error)
            }
        }
    }

    func firstLine() async throws -> Data {
        for try await line in line { return line }
        throw BackplaneError(.componentFailed, "the server process did not start")
    }

    /// Kills the process.
    func stop() { isStopped.signal() }
}

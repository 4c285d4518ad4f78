import Backplane
import BackplaneTools
import Foundation

/// A program that is run to completion.
enum TimedProgram {
    /// Runs a program and returns its duration.
    ///
    /// - Parameter program: A path, or a name to look up in `PATH`; `nil` runs `backplane`.
    /// - Throws: `component.failed` with the last lines of output unless the program ends with exit code 0.
    static func time(_ program: String?, _ arguments: [String]) async throws -> Duration {
        let said = OutputLines(), start = ContinuousClock.now
        let ending: ChildProcess.Ending = try await withCheckedThrowingContinuation { continuation in
            do throws(BackplaneError) {
                _ = try ChildProcess(
                    program ?? ProgramRun.command, arguments,
                    outlets: [
                        .init(descriptor: STDOUT_FILENO) { said.output($0) },
                        .init(descriptor: STDERR_FILENO) { said.error($0) },
                    ]
                ) { continuation.resume(returning: $0) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        let time = ContinuousClock.now - start
        guard ending == .exit(0) else {
            let causes = (said.text.output.suffix(20) + said.text.errors.suffix(20)).map {
                BackplaneError(.componentFailed, $0)
            }
            let words = ([program ?? "backplane"] + arguments).joined(separator: " ")
            throw BackplaneError(
                .componentFailed, "expected `\(words)` to end with exit code 0: \(ending.text)", causes: causes)
        }
        return time
    }
}

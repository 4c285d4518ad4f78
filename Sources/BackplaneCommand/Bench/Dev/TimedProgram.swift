import Backplane
import Foundation

/// A program that is run to its end.
enum TimedProgram {
    /// This program.
    static let own = "/proc/self/exe"

    /// How long it takes.
    ///
    /// - Throws: what it said last, where it does not end with exit code 0.
    static func time(_ program: String, _ arguments: [String]) async throws -> Duration {
        let said = SaidLines(), start = ContinuousClock.now
        let ending: ChildProcess.Ending = try await withCheckedThrowingContinuation { continuation in
            do throws(BackplaneError) {
                _ = try ChildProcess(
                    program, arguments,
                    outlets: [.init(descriptor: STDOUT_FILENO) { said.output($0) }, .init(descriptor: STDERR_FILENO) { said.error($0) }]
                ) { continuation.resume(returning: $0) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        let time = ContinuousClock.now - start
        guard ending == .exit(0) else {
            let causes = (said.text.output.suffix(20) + said.text.errors.suffix(20)).map { BackplaneError(.componentFailed, $0) }
            throw BackplaneError(.componentFailed, "`\(([program] + arguments).joined(separator: " "))` was to end with exit code 0, found \(ending)", causes: causes)
        }
        return time
    }
}

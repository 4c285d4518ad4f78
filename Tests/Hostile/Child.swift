import Foundation
import Synchronization

/// A process of its own, which is killed when its time is up.
///
/// Not by `Process`, which notices an end by a socket that closes: processes that other threads start at the same time
/// inherit it.
enum Child {
    enum Ending: Sendable, Equatable {
        case exit(Int32), signal(Int32), overdue
    }
    struct Outcome: Sendable {
        let ending: Ending
        let output, errors: String
    }

    /// - Parameter limit: in seconds.
    static func run(_ program: String, _ arguments: [String], limit: Double) -> Outcome {
        let files = ["out", "err"].map { NSTemporaryDirectory() + "/hostile-\(UUID().uuidString).\($0)" }
        defer { for file in files { unlink(file) } }
        guard let child = start([program] + arguments, files) else {
            return Outcome(ending: .exit(127), output: "", errors: "\(program) cannot be run")
        }
        let hasEnded = DispatchSemaphore(value: 0), isOverdue = Overdue()
        Thread.detachNewThread {
            guard hasEnded.wait(timeout: .now() + limit) == .timedOut else { return }
            isOverdue.value.withLock { $0 = true }
            kill(child, SIGKILL)
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) == -1 && errno == EINTR {}
        hasEnded.signal()
        let number = status & 0x7F,
            ending: Ending =
                isOverdue.value.withLock { $0 } ? .overdue : number == 0 ? .exit(status >> 8 & 0xFF) : .signal(number)
        return Outcome(ending: ending, output: text(files[0]), errors: text(files[1]))
    }

    private final class Overdue: Sendable {
        let value = Mutex(false)
    }

    /// With nothing to read, and files for what it prints.
    private static func start(_ words: [String], _ files: [String]) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for (number, file) in files.enumerated() {
            posix_spawn_file_actions_addopen(&actions, Int32(number + 1), file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        }
        let environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }.map {
            "\($0.key)=\($0.value)"
        }
        var arguments = words.map { strdup($0) } + [nil], variables = environment.map { strdup($0) } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var child = pid_t()
        return posix_spawn(&child, words[0], &actions, nil, &arguments, &variables) == 0 ? child : nil
    }

    private static func text(_ path: String) -> String { String(decoding: contents(of: path), as: UTF8.self) }
}

import Backplane
import Foundation
import Glibc
import Synchronization

/// One more run of this program, which does not outlive whoever waits for it.
final class ProgramRun: Sendable {
    private let arguments: [String]
    /// Its standard output, to be read once.
    private let output: Int32
    /// `nil` once it has ended: from then on its number may be another process's.
    private let process: Mutex<pid_t?>

    /// Runs this program, and `body` beside it on a thread of its own, where it may wait.
    ///
    /// What the program says on standard error is passed on. When `body` has returned, or the task is cancelled, it is killed if it still runs.
    static func with<Value: Sendable>(_ arguments: [String], _ body: @escaping @Sendable (ProgramRun) throws -> Value) async throws -> Value {
        let run = try ProgramRun(arguments)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    let result = Result { try body(run) }
                    run.kill()
                    _ = run.wait()
                    continuation.resume(with: result)
                }
            }
        } onCancel: {
            run.kill()
        }
    }

    private init(_ arguments: [String]) throws(BackplaneError) {
        self.arguments = arguments
        var ends: [Int32] = [-1, -1], pid: pid_t = 0
        guard pipe(&ends) == 0 else { throw Self.failed(arguments, "cannot be run: \(String(cString: strerror(errno)))") }
        // Or other programs that are started meanwhile would keep them open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[1]) }
        let status = Self.spawn(arguments, output: ends[1], &pid)
        guard status == 0 else {
            close(ends[0])
            throw Self.failed(arguments, "cannot be run: \(String(cString: strerror(status)))")
        }
        output = ends[0]
        process = Mutex(pid)
    }

    deinit { close(output) }

    private static func spawn(_ arguments: [String], output: Int32, _ pid: inout pid_t) -> Int32 {
        var actions = posix_spawn_file_actions_t(), attributes = posix_spawnattr_t(), signals = sigset_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        // The threads that Swift runs tasks on block signals, and a program keeps what the thread that started it blocked.
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let texts = (["backplane"] + arguments).map { strdup($0) }
        defer { for text in texts { free(text) } }
        return posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, texts + [nil], environ)
    }

    /// Its number; `nil` once it has ended.
    var id: pid_t? { process.withLock(\.self) }

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
        let status = wait()
        guard status == 0 else { throw Self.failed(arguments, "ended with \(status.map { "exit code \($0)" } ?? "a signal")") }
    }

    /// Asks it to stop.
    func stop() { send(SIGTERM) }

    private func kill() { send(SIGKILL) }

    private func send(_ signal: Int32) {
        process.withLock { pid in
            if let pid { _ = Glibc.kill(pid, signal) }
        }
    }

    /// Waits until it ends, and gives its exit code; `nil`: a signal ended it, or it had ended before.
    private func wait() -> Int32? {
        guard let pid = id else { return nil }
        // Not yet taken off the system's list, so that a signal to it never meets another process.
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return process.withLock { process in
            var status: Int32 = 0
            guard process != nil else { return nil }
            process = nil
            guard waitpid(pid, &status, 0) == pid, status & 0x7F == 0 else { return nil }
            return (status >> 8) & 0xFF
        }
    }

    private static func failed(_ arguments: [String], _ what: String) -> BackplaneError {
        BackplaneError(.componentFailed, "`backplane \(arguments.joined(separator: " "))` \(what)")
    }
}

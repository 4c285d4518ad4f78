import Foundation
import Glibc
import TestFixtures
import Testing

/// A process that has a store open.
final class StoreProcess: Sendable {
    let id: pid_t
    private let output: Int32

    /// Starts `store-writer`, which is beside the tests.
    init(_ arguments: String...) throws {
        let program = BuiltProducts.folder + "/store-writer"
        var ends: [Int32] = [0, 0]
        let status = pipe(&ends)
        try #require(status == 0)
        // A writer that another test starts must not keep the end of this one from being seen.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let spawned = posix_spawn(&process, program, &actions, nil, &words, environ)
        close(ends[1])
        (id, output) = (process, ends[0])
        try #require(spawned == 0, "store-writer cannot be started: \(spawned)")
    }

    deinit { close(output) }

    /// Waits until there is more output, and returns it; empty at its end.
    func read() -> String {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(output, &bytes, bytes.count)
            if count < 0 && errno == EINTR { continue }
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        }
    }

    func readToEnd() -> String {
        var text = ""
        while true {
            let more = read()
            if more.isEmpty { return text }
            text += more
        }
    }

    /// Ends the process with a signal, or waits for its end.
    func end(_ signal: Int32 = 0) {
        if signal != 0 { kill(id, signal) }
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0 && errno == EINTR {}
    }
}

package import Backplane
package import Foundation
import Glibc
import Synchronization

/// A program that this one has started, until it has ended and was waited for.
package final class SpawnedProcess: Sendable {
    /// How it ended.
    package enum Ending: Sendable, Hashable {
        case exit(Int32), signal(Int32)

        /// For a person.
        package var text: String {
            switch self {
            case .exit(let code): "it ended with exit code \(code)"
            case .signal(let number): "signal \(number) ended it (\(String(cString: strsignal(number))))"
            }
        }
    }

    /// Who a signal to it reaches.
    package enum Group: Sendable {
        /// It alone; control-C at the terminal reaches it as it reaches this process.
        case ours
        /// It and everything that it starts; control-C at the terminal reaches none of them.
        case own
    }
    package let id: pid_t
    private let group: Group
    /// `nil` once it has ended: from then on its number may be another process's.
    private let living: Mutex<pid_t?>

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: a path, or a name that is looked for in `PATH`; `nil`: this program once more.
    ///   - environment: what it has besides this process's, where that has no such variable.
    ///   - descriptors: under its own numbers those of this process that it is given; others of this process's are its own where they are
    ///     not closed in children.
    package init(
        _ program: String?, _ arguments: [String], environment: [String: String] = [:], descriptors: [(own: Int32, given: Int32)], group: Group
    ) throws(BackplaneError) {
        var actions = posix_spawn_file_actions_t(), id: pid_t = 0
        posix_spawn_file_actions_init(&actions)
        for (own, given) in descriptors { posix_spawn_file_actions_adddup2(&actions, given, own) }
        var attributes = Self.attributes(group)
        let variables = ProcessInfo.processInfo.environment.merging(environment) { own, _ in own }.map { "\($0)=\($1)" }
        let texts = ([program ?? "backplane"] + arguments).map { strdup($0) }, settings = variables.map { strdup($0) }
        let status = posix_spawnp(&id, program ?? "/proc/self/exe", &actions, &attributes, texts + [nil], settings + [nil])
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
        for text in texts + settings { free(text) }
        guard status == 0 else {
            throw BackplaneError(.componentFailed, "`\(program ?? "backplane")` cannot be run: \(String(cString: strerror(status)))")
        }
        (self.id, self.group) = (id, group)
        living = Mutex(id)
    }

    private static func attributes(_ group: Group) -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t(), blocked = sigset_t(), defaults = sigset_t()
        posix_spawnattr_init(&attributes)
        // A program keeps what the thread that started it blocks, as Swift's own threads do, and what this one ignores.
        sigemptyset(&blocked)
        sigemptyset(&defaults)
        for signal in [SIGPIPE, SIGTTOU, SIGTTIN] { sigaddset(&defaults, signal) }
        posix_spawnattr_setsigmask(&attributes, &blocked)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (group == .own ? POSIX_SPAWN_SETPGROUP : 0)))
        return attributes
    }

    /// Does nothing once it has ended.
    package func send(_ signal: Int32) {
        living.withLock { id in
            if let id { _ = kill(group == .own ? -id : id, signal) }
        }
    }

    /// Waits until it ends; `nil`: somebody has waited for it before.
    package func wait() -> Ending? {
        guard let id = living.withLock(\.self) else { return nil }
        // Not yet taken off the system's list, so that a signal to it never meets another process.
        var information = siginfo_t()
        while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return living.withLock { living in
            var status: Int32 = 0
            guard living != nil else { return nil }
            living = nil
            guard waitpid(id, &status, 0) == id else { return nil }
            return status & 0x7F == 0 ? .exit((status >> 8) & 0xFF) : .signal(status & 0x7F)
        }
    }
}

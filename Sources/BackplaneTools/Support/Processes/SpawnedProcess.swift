package import Backplane
package import Foundation
import Glibc
import Synchronization

/// A child process, from its start until it has ended and was waited for.
package final class SpawnedProcess: Sendable {
    /// The way in which the process ended.
    package enum Ending: Sendable, Hashable {
        case exit(Int32), signal(Int32)

        /// The description as text.
        package var text: String {
            switch self {
            case .exit(let code): "it ended with exit code \(code)"
            case .signal(let number): "signal \(number) ended it (\(String(cString: strsignal(number))))"
            }
        }
    }

    /// The process group, which determines the processes that signals reach.
    package enum Group: Sendable {
        /// The group of this process: a signal reaches only the child, and Control-C at the terminal reaches both
        /// processes.
        case ours
        /// A new group: a signal reaches the child and its descendants, and Control-C at the terminal reaches none of
        /// them.
        case own
    }
    package let id: pid_t
    private let group: Group
    /// The process id, or `nil` after the end of the process, when the id may belong to another process.
    private let living: Mutex<pid_t?>

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: A path, or a name to look for in `PATH`, or `nil` for this program itself.
    ///   - environment: Variables that are added unless this process already has them.
    ///   - overrides: Variables that are set whether or not this process has them.
    ///   - descriptors: The descriptors that the child receives, each by its number in the child and by that in this
    ///     process; the child inherits others unless they are close-on-exec.
    package init(
        _ program: String?, _ arguments: [String], environment: [String: String] = [:],
        overrides: [String: String] = [:], descriptors: [(inChild: Int32, here: Int32)], group: Group
    ) throws(BackplaneError) {
        var actions = posix_spawn_file_actions_t(), id: pid_t = 0
        posix_spawn_file_actions_init(&actions)
        for (number, here) in descriptors { posix_spawn_file_actions_adddup2(&actions, here, number) }
        var attributes = Self.attributes(group)
        let variables = ProcessInfo.processInfo.environment.merging(environment) { own, _ in own }
            .merging(overrides) { $1 }.map { "\($0)=\($1)" }
        let texts = ([program ?? "backplane"] + arguments).map { strdup($0) }, settings = variables.map { strdup($0) }
        let status = ChildPipe.creation.withLock { _ in
            posix_spawnp(
                &id, program ?? "/proc/self/exe", &actions, &attributes, texts + [nil], settings + [nil])
        }
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
        for text in texts + settings { free(text) }
        guard status == 0 else {
            throw BackplaneError(
                .componentFailed, "`\(program ?? "backplane")` cannot be run: \(String(cString: strerror(status)))")
        }
        (self.id, self.group) = (id, group)
        living = Mutex(id)
    }

    private static func attributes(_ group: Group) -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t(), blocked = sigset_t(), defaults = sigset_t()
        posix_spawnattr_init(&attributes)
        // A program inherits blocked signals from the thread that starts it, as Swift's block some, and ignored ones.
        sigemptyset(&blocked)
        sigemptyset(&defaults)
        for signal in [SIGPIPE, SIGTTOU, SIGTTIN] { sigaddset(&defaults, signal) }
        posix_spawnattr_setsigmask(&attributes, &blocked)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (group == .own ? POSIX_SPAWN_SETPGROUP : 0)))
        return attributes
    }

    /// Sends a signal; does nothing once the process has ended.
    package func send(_ signal: Int32) {
        living.withLock { id in
            if let id { _ = kill(group == .own ? -id : id, signal) }
        }
    }

    /// Waits for the end of the process; returns `nil` if it was already waited for.
    package func wait() -> Ending? {
        guard let id = living.withLock(\.self) else { return nil }
        // The process stays a zombie until the lock is held, so that no signal goes to another process of this id.
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

package import Glibc

/// The process that a child starts in order to be ended with all its descendants (``ChildLifetime``).
///
/// The child cannot do this itself: until it is killed, its other threads may start processes that it has not listed,
/// and afterwards it is unknown which processes were its descendants. So another process stops it first.
package enum ChildEnd {
    /// The hidden command that the process runs.
    package static let command = "end-child"

    /// Stops the child, kills its descendants, and then the child.
    ///
    /// - Parameter child: The parent of this process. Nothing happens if its parent is another process, because the
    ///   child has then already ended.
    package static func run(_ child: pid_t) {
        guard getppid() == child, kill(child, SIGSTOP) == 0 else { return }
        // Until it is stopped, it may start further processes.
        for _ in 0..<1_000 where !isStopped(child) { usleep(1_000) }
        // The orphans of those that are killed become children of the stopped process.
        Descendants.end(of: child)
        kill(child, SIGKILL)
    }

    private static func isStopped(_ process: pid_t) -> Bool {
        ProcessStatus.all(in: "/proc/\(process)/task").allSatisfy { $0.isStopped || $0.hasEnded }
    }
}

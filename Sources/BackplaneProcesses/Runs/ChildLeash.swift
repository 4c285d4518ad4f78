import BackplaneHost
import CBackplaneHost
import Glibc

/// What ends a child of this program, and everything that it has started, when its parent is gone, however that ended.
///
/// The child's standard input is a pipe that nobody but its parent holds the other end of. A parent's death signal would be no leash:
/// it is sent when the thread ends that made the child.
package enum ChildLeash {
    /// Called by the child, before it runs anybody else's code: a thread of its own reads the leash. Somebody who runs the child by hand,
    /// with no pipe, needs none.
    package static func hold() {
        setpgid(0, 0)
        _ = bph_adopt_orphans()
        var status = stat()
        guard fstat(STDIN_FILENO, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else { return }
        let leash = moveHigh(STDIN_FILENO), nothing = open("/dev/null", O_RDONLY)
        dup2(nothing, STDIN_FILENO)
        close(nothing)
        let group = getpid()
        HostThread.start("bp-leash") {
            var byte: UInt8 = 0
            while true {
                let count = read(leash, &byte, 1)
                if count == 0 || count < 0 && errno != EINTR { break }
            }
            Descendants.end()
            kill(-group, SIGKILL)
            kill(group, SIGKILL)
        }
    }

    /// Another descriptor of the same file, closed in other programs, and so high that no loop over the first few hundred closes it.
    package static func moveHigh(_ descriptor: Int32) -> Int32 {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let high = fcntl(descriptor, F_DUPFD_CLOEXEC, Int32(min(limit.rlim_cur, 1_024)) - 16)
        return high >= 0 ? high : fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    }
}

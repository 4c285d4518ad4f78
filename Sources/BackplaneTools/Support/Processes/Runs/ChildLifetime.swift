import BackplaneHost
import CBackplaneHost
import Glibc

/// A safeguard that ends a child of this program and all its descendants when its parent has ended.
///
/// The child's standard input is a pipe whose other end only the parent holds, so it closes when the parent ends for
/// any reason. A parent-death signal would not suffice, because it is sent when the thread that created the child ends.
package enum ChildLifetime {
    /// Watches the pipe on a separate thread; the child calls this before it runs any foreign code.
    ///
    /// Without a pipe, for example when a user starts the child, this is not needed and no thread is started.
    package static func endWithParent() {
        setpgid(0, 0)
        _ = bph_adopt_orphans()
        var status = stat()
        guard fstat(STDIN_FILENO, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else { return }
        let parent = moveHigh(STDIN_FILENO), nothing = open("/dev/null", O_RDONLY)
        dup2(nothing, STDIN_FILENO)
        close(nothing)
        let group = getpid()
        let isWatched = HostThread.tryStart("bp-parent") {
            var byte: UInt8 = 0
            while true {
                let count = read(parent, &byte, 1)
                if count == 0 || count < 0 && errno != EINTR { break }
            }
            // A second one is enough for it; without memory or processes for it, this one does what it can.
            let end = try? SpawnedProcess(nil, [ChildEnd.command, "\(group)"], descriptors: [], group: .own)
            if end != nil { sleep(5) }
            Descendants.end()
            kill(-group, SIGKILL)
            kill(group, SIGKILL)
        }
        guard !isWatched else { return }
        // Without it the child might outlive its parent.
        _ = "the system cannot create a thread for the child process\n".withCString {
            write(STDERR_FILENO, $0, strlen($0))
        }
        _exit(1)
    }

    /// Duplicates a descriptor as close-on-exec, with a number above the first few hundred, which programs may close.
    package static func moveHigh(_ descriptor: Int32) -> Int32 {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let high = fcntl(descriptor, F_DUPFD_CLOEXEC, Int32(min(limit.rlim_cur, 1_024)) - 16)
        return high >= 0 ? high : fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    }
}

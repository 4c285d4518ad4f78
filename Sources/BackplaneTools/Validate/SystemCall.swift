import Glibc

/// The system calls of x86-64 by number.
enum SystemCall {
    /// Returns the names of system calls without duplicates, in the order in which they were first made.
    static func names(_ numbers: [Int32]) -> [String] {
        var seen: Set<Int32> = []
        return numbers.filter { seen.insert($0).inserted }.map { name($0) }
    }

    static func name(_ number: Int32) -> String { known[number] ?? "number \(number)" }

    private static let known: [Int32: String] = [
        0: "read", 1: "write", 2: "open", 3: "close", 4: "stat", 5: "fstat", 6: "lstat", 7: "poll", 8: "lseek",
        13: "rt_sigaction",
        14: "rt_sigprocmask", 15: "rt_sigreturn", 16: "ioctl", 17: "pread64", 18: "pwrite64", 19: "readv", 20: "writev",
        21: "access",
        22: "pipe", 23: "select", 32: "dup", 33: "dup2", 34: "pause",
        35: "nanosleep", 41: "socket", 42: "connect", 43: "accept", 44: "sendto", 45: "recvfrom", 46: "sendmsg",
        47: "recvmsg", 49: "bind",
        50: "listen", 56: "clone", 57: "fork", 58: "vfork", 59: "execve", 60: "exit", 62: "kill", 72: "fcntl",
        74: "fsync", 76: "truncate",
        77: "ftruncate", 79: "getcwd", 80: "chdir", 82: "rename", 83: "mkdir", 84: "rmdir", 85: "creat", 87: "unlink",
        89: "readlink", 90: "chmod",
        157: "prctl", 217: "getdents64", 230: "clock_nanosleep", 231: "exit_group", 232: "epoll_wait", 233: "epoll_ctl",
        234: "tgkill",
        257: "openat", 262: "newfstatat", 263: "unlinkat", 267: "readlinkat", 269: "faccessat", 288: "accept4",
        290: "eventfd2",
        291: "epoll_create1", 293: "pipe2", 302: "prlimit64", 322: "execveat", 332: "statx", 425: "io_uring_setup",
        435: "clone3", 439: "faccessat2",
    ]
}

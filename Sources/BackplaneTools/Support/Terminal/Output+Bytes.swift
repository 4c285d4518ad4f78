import Glibc
import Synchronization

extension Output {
    /// A Boolean value that indicates whether output was lost, global like the process's standard output.
    private static let isIncomplete = Atomic(false)

    /// Returns the exit code for a command that ended with `code`: 1 if its output is incomplete.
    package static func exitCode(_ code: Int32) -> Int32 {
        code == 0 && isIncomplete.load(ordering: .relaxed) ? 1 : code
    }

    /// Writes bytes unchanged, and waits if the reader is slow.
    ///
    /// A closed pipe is not an error. Any other failure is reported once on standard error and makes the exit code 1.
    package static func write(bytes: some Sequence<UInt8>, to descriptor: Int32 = STDOUT_FILENO) {
        var rest = ArraySlice(bytes)
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                waitUntilWritable(descriptor)
            } else if errno != EINTR {
                return fail(errno, of: descriptor)
            }
        }
    }

    private static func waitUntilWritable(_ descriptor: Int32) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&entry, 1, -1)
    }

    private static func fail(_ number: Int32, of descriptor: Int32) {
        // A failure of standard error itself cannot be reported anywhere.
        guard number != EPIPE, descriptor != STDERR_FILENO else { return }
        guard !isIncomplete.exchange(true, ordering: .relaxed) else { return }
        remark("backplane: the output cannot be written: \(String(cString: strerror(number)))")
    }
}

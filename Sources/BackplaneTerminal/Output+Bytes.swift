import Glibc
import Synchronization

extension Output {
    /// Whether something that was to be printed could not be; the process has one standard output, and one answer to this.
    private static let isIncomplete = Atomic(false)

    /// The exit code of a command that ended with this one: no success where what it printed is not all there.
    package static func exitCode(_ code: Int32) -> Int32 {
        code == 0 && isIncomplete.load(ordering: .relaxed) ? 1 : code
    }

    /// Bytes as they are; waits where the other end is slow.
    ///
    /// Who does not read any more wants nothing else. Any other failure is said once on standard error, and makes the exit code 1.
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
        // Of standard error nothing could be said anywhere.
        guard number != EPIPE, descriptor != STDERR_FILENO else { return }
        guard !isIncomplete.exchange(true, ordering: .relaxed) else { return }
        remark("backplane: the output cannot be written: \(String(cString: strerror(number)))")
    }
}

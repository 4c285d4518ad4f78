package import Backplane
import Glibc
import Synchronization

/// A pipe between this process and a child, with both ends closed in other children.
package struct ChildPipe: Sendable {
    package let reading, writing: Int32

    /// The lock that is held while the ends of a new pipe are not yet close-on-exec, and while a child is started.
    static let creation = Mutex(())

    package init() throws(BackplaneError) {
        (reading, writing) = try Self.creation.withLock { _ throws(BackplaneError) in try Self.ends() }
    }

    private static func ends() throws(BackplaneError) -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw failure(errno) }
        let (reading, writing) = (high(ends[0]), high(ends[1]))
        guard reading < 0 || writing < 0 else { return (reading, writing) }
        let number = errno
        for end in [reading, writing] where end >= 0 { close(end) }
        throw failure(number)
    }

    private static func failure(_ number: Int32) -> BackplaneError {
        BackplaneError(
            .componentFailed, "no pipe to another program could be created: \(String(cString: strerror(number)))")
    }

    /// Duplicates an end to a number above all descriptors that a child receives, and closes the original.
    private static func high(_ end: Int32) -> Int32 {
        let higher = fcntl(end, F_DUPFD_CLOEXEC, 10)
        close(end)
        return higher
    }
}

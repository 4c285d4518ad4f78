package import Backplane
import Glibc

/// A pipe between this process and a child, with both ends closed in other children.
package struct ChildPipe: Sendable {
    package let reading, writing: Int32

    package init() throws(BackplaneError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw BackplaneError(
                .componentFailed,
                "no pipe to another program could be created: \(String(cString: strerror(errno)))")
        }
        (reading, writing) = (Self.high(ends[0]), Self.high(ends[1]))
    }

    /// Duplicates an end to a number above all descriptors that a child receives, and closes the original.
    private static func high(_ end: Int32) -> Int32 {
        let higher = fcntl(end, F_DUPFD_CLOEXEC, 10)
        close(end)
        return higher
    }
}

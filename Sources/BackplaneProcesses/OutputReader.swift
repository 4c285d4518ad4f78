import Foundation
import Glibc

/// Whoever reads the standard output.
package enum OutputReader {
    /// Tells once that it is gone: it has closed the pipe, or the terminal was closed. A file or `/dev/null` has none that could go.
    package static func watch(_ tellGone: @escaping @Sendable () -> Void) {
        Thread.detachNewThread {
            var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
            while poll(&output, 1, -1) < 0, errno == EINTR {}
            if Int32(output.revents) & (POLLERR | POLLHUP) != 0 { tellGone() }
        }
    }
}

import Foundation
import Glibc

/// The reader of this process's standard output.
package enum OutputReader {
    /// Watches for the reader to close the pipe or terminal, and calls `tellGone` once; a file has no reader.
    package static func watch(_ tellGone: @escaping @Sendable () -> Void) {
        Thread.detachNewThread {
            var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
            while poll(&output, 1, -1) < 0, errno == EINTR {}
            if Int32(output.revents) & (POLLERR | POLLHUP) != 0 { tellGone() }
        }
    }
}

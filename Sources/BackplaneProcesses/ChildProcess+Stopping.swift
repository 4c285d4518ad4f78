import Foundation
import Glibc

extension ChildProcess {
    /// Asks a package manager to stop, again and again, since it loses a signal of its first tenth of a second; what has not stopped after
    /// a while is killed.
    ///
    /// - Parameter patience: tenths of a second.
    package func stop(patience: Int) {
        Thread.detachNewThread { [self] in
            for _ in 0..<patience {
                send(SIGINT)
                usleep(100_000)
            }
            send(SIGKILL)
        }
    }
}

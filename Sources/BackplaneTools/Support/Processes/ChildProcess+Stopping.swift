import Foundation
import Glibc

extension ChildProcess {
    /// Interrupts a package manager repeatedly, and kills it if it has not stopped after a while.
    ///
    /// A single signal is not enough, because a package manager loses signals during its first tenth of a second.
    ///
    /// - Parameter patience: The time until it is killed, in tenths of a second.
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

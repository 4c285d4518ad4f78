import Backplane
import BackplaneHost

/// The memory that large requests may use together.
final class RequestMemory: Sendable {
    private let left: Monitor<Int>

    init(bytes: Int) { left = Monitor(bytes) }

    /// Waits for memory for a limited time, and returns whether it is available.
    func take(_ bytes: Int, until deadline: Deadline) -> Bool {
        left.wait { left in
            guard left < bytes else {
                left -= bytes
                return .done(true)
            }
            return deadline <= .now ? .done(false) : .until(deadline)
        }
    }

    func give(back bytes: Int) { left.withLock { $0 += bytes } }
}

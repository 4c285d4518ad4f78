import BackplaneBoundary
import Synchronization

/// The cancellation of an instance's native calls in flight.
///
/// They have no numbers, so that a cancellation that is late would also end calls that began after it was requested.
final class NativeCancellation: Sendable {
    private enum Phase {
        case due, running, over
    }
    private let phase = Mutex(Phase.due)

    /// Begins the cancellation on a thread, because functions of the plugin may not return.
    init(of instance: ComponentInstance) {
        instance.claim()
        let begins = HostThread.launch { [self] in
            if advance(from: .due, to: .running) {
                instance.cancelNativeCalls()
                _ = advance(from: .running, to: .over)
            }
            instance.release()
        }
        if !begins { instance.release() }
    }

    /// Keeps the cancellation from beginning; returns `false` if it is running.
    func withdraw() -> Bool {
        _ = advance(from: .due, to: .over)
        return phase.withLock { $0 == .over }
    }

    private func advance(from old: Phase, to new: Phase) -> Bool {
        phase.withLock { phase in
            guard phase == old else { return false }
            phase = new
            return true
        }
    }
}

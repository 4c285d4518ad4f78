import Backplane
import BackplaneBoundary
import Synchronization

/// A signal that ends the wait of a probation early: a call has failed, or another change has been requested.
final class ProbationWatch: Sendable {
    private enum State {
        case idle
        case raised
        case waiting(UnsafeContinuation<Void, Never>)
    }
    private let state = Mutex(State.idle)

    /// Ends the current wait, or the next one if there is none.
    @Sendable func raise() {
        let waiting = state.withLock { state -> UnsafeContinuation<Void, Never>? in
            guard case .waiting(let continuation) = state else {
                state = .raised
                return nil
            }
            state = .idle
            return continuation
        }
        waiting?.resume()
    }

    /// Waits for the signal, at most until the deadline or for an interval of real time.
    func wait(until deadline: Deadline, _ clock: any HostClock, polling interval: Duration?) async {
        let end = Callbacks.newID(), poll = Callbacks.newID()
        clock.schedule(end, at: deadline, raise)
        if let interval { clock.polls.look(poll, at: clock.polls.moment + interval, raise) }
        await withUnsafeContinuation { continuation in
            let isRaised = state.withLock { state in
                guard case .raised = state else {
                    state = .waiting(continuation)
                    return false
                }
                state = .idle
                return true
            }
            if isRaised { continuation.resume() }
        }
        clock.cancel(end)
        clock.polls.cancel(poll)
    }
}

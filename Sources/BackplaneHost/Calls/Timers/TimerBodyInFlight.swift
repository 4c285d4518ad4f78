import Synchronization

/// A running body for which the timers of newer instances wait.
final class TimerBodyInFlight: Sendable {
    private struct State {
        var isOver = false
        var waiting: [(timers: ComponentTimers, name: String)] = []
    }
    private let state = Mutex(State())

    /// Registers a timer to be notified of the end, or returns `false` if the body has ended.
    func isAwaited(by timers: ComponentTimers, _ name: String) -> Bool {
        state.withLock { state in
            if !state.isOver { state.waiting.append((timers, name)) }
            return !state.isOver
        }
    }

    func end() {
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for (timers, name) in waiting { timers.unblock(name) }
    }
}

import Backplane
import BackplaneBoundary
import Synchronization

/// The timers in statistics and messages.
extension ComponentTimers {
    /// Returns at most `limit` timers in the order in which they were added, and the total number of timers.
    func statistics(limit: Int) -> (timers: [TimerStatistics], count: Int) {
        let now = clock.moment
        return state.withLock { state in
            let shown = state.timers.sorted { $0.key < $1.key }.prefix(limit).map { _, timer in
                TimerStatistics(
                    name: timer.name,
                    period: timer.timing.repeats ? .nanoseconds(timer.timing.period) : nil,
                    next: (timer.due ?? timer.timing.next).map { max(.zero, $0 - now) }, runs: timer.runs,
                    failures: timer.failures, isRunning: timer.isRunning)
            }
            return (shown, state.timers.count)
        }
    }

    /// A Boolean value that indicates whether a body is awaited.
    var isBusy: Bool { state.withLock { state in state.bodies > 0 } }

    /// The names of the timers whose bodies are awaited, in sorted order.
    var namesInFlight: [String] {
        state.withLock { state in state.timers.values.filter { $0.run != nil }.map(\.name).sorted() }
    }

    /// The numbers of the bodies that are awaited.
    var bodiesInFlight: Set<UInt64> { Set(running.map(\.run)) }

    /// Cancels the running bodies, which continue to count until the plugin answers.
    func cancelBodies() {
        // The plugin's function may not return. A plugin ignores the number of a body that has ended in the meantime.
        for (run, functions) in running {
            _ = HostThread.launch { [self] in if bodiesInFlight.contains(run) { functions.cancel(run) } }
        }
    }

    /// Answers the running bodies with an error, and cancels them in the plugin.
    func endBodies(_ error: BackplaneError) {
        state.withLock { $0.ending = error }
        for (run, functions) in running where Callbacks.end(run, EncodedAnswer(error)) {
            // The plugin's function may not return. Without a thread it is not cancelled.
            _ = HostThread.launch { if Callbacks.isOwed(run) { functions.cancel(run) } }
        }
    }

    private var running: [(run: UInt64, functions: TimerFunctions)] {
        state.withLock { state in state.timers.values.compactMap { timer in timer.run.map { ($0, timer.functions) } } }
    }
}

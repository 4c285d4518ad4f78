import Backplane
import BackplaneBoundary
import Synchronization

/// The calls that a gate has admitted after they had waited, and that enter a plugin.
///
/// A thread that opens a gate must not wait for a plugin, so the calls begin on other threads, in the order of their
/// admission. Thousands of calls may have waited, so there are few threads at first; whenever no call begins for a
/// while, because a plugin's functions do not return, one more is added.
final class AdmittedCalls: Sendable {
    private struct State {
        var calls: [@Sendable () -> Void] = []
        /// The index of the next call.
        var next = 0
        var threads = 0
        /// The index of the next call at the last check for progress.
        var seen = 0
        var isWatched = false

        /// Takes the next call; ends the thread and returns `nil` if there is none.
        mutating func take() -> (@Sendable () -> Void)? {
            guard next < calls.count else {
                (calls, next, threads) = ([], 0, threads - 1)
                return nil
            }
            next += 1
            return calls[next - 1]
        }
    }
    /// The number of threads while calls begin.
    private static let usual = 16
    /// The time without a new call after which another thread is added.
    private static let patience = Duration.milliseconds(10)
    private let state = Mutex(State())
    private let timer: DeadlineTimer
    private let id = Callbacks.newID()

    init(timer: DeadlineTimer) { self.timer = timer }

    /// Begins a call on another thread; if none can be created, on this one.
    func begin(_ call: @escaping @Sendable () -> Void) {
        let (isNew, isFirstToWait) = state.withLock { state in
            state.calls.append(call)
            if state.threads < Self.usual {
                state.threads += 1
                return (true, false)
            }
            defer { state.isWatched = true }
            return (false, !state.isWatched)
        }
        if isFirstToWait { watch() }
        if isNew, !HostThread.launch({ self.work() }) { work() }
    }

    /// Checks periodically whether calls begin; otherwise, takes over the rest on a thread of the timer.
    private func watch() {
        timer.schedule(id, at: .now + Self.patience) { [self] in
            let (isOver, isStuck) = state.withLock { state in
                let isOver = state.next >= state.calls.count, isStuck = state.next == state.seen
                state.seen = state.next
                if isOver { state.isWatched = false } else if isStuck { state.threads += 1 }
                return (isOver, isStuck)
            }
            guard !isOver else { return }
            watch()
            if isStuck { work() }
        }
    }

    private func work() {
        while let call = state.withLock({ $0.take() }) { call() }
    }
}

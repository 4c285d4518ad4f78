import Backplane
import BackplaneBoundary
import Synchronization

/// The closing of several streams, in which a stuck stream does not delay the others.
///
/// A body may react to its cancellation on the cancelling thread, and a plugin's `close` may block; neither is
/// guaranteed to return. One thread ends the streams. Whenever it makes no progress, another one takes over, so that
/// there is never more than one thread besides those that are stuck.
final class StreamEndings: Sendable {
    private struct State {
        /// The functions that end the remaining streams, in reverse order.
        var left: [@Sendable () -> Void]
        /// The number of functions that remained at the last check for progress.
        var seen: Int
    }
    private let state: Mutex<State>
    private let timer: DeadlineTimer
    private let id = Callbacks.newID()

    /// The time without further progress after which a thread is considered stuck.
    private static let patience = Duration.milliseconds(10)

    /// Creates the closing of streams from the functions that end them, in order.
    init(_ ends: [@Sendable () -> Void], timer: DeadlineTimer) {
        state = Mutex(State(left: ends.reversed(), seen: ends.count))
        self.timer = timer
    }

    /// Starts to end the streams without waiting; if no other thread can be created, uses this one.
    func run() {
        let count = state.withLock { $0.left.count }
        guard count > 0 else { return }
        if count > 1 { watch() }
        if !HostThread.launch({ self.work() }) { work() }
    }

    private func work() {
        while let end = state.withLock({ $0.left.popLast() }) { end() }
        timer.cancel(id)
    }

    /// Checks periodically whether the work progresses; otherwise, takes it over on a thread of the timer.
    private func watch() {
        timer.schedule(id, at: .now + Self.patience) { [self] in
            let (isOver, isStuck) = state.withLock { state in
                defer { state.seen = state.left.count }
                return (state.left.isEmpty, state.left.count == state.seen)
            }
            guard !isOver else { return }
            watch()
            if isStuck { work() }
        }
    }
}

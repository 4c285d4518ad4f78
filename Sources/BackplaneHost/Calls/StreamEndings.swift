import Backplane
import BackplaneBoundary
import Synchronization

/// The ends of several streams, of which one that is stuck does not hold up the others.
///
/// A body may react to its cancellation on the thread that cancels it, and a plugin's `close` may block; neither need
/// ever return. One thread ends the streams. Whenever it makes no progress, another one goes on in its place, so that
/// there is never more than one thread beyond those that are stuck.
final class StreamEndings: Sendable {
    private struct State {
        /// The functions that end the streams which are left, the next one last.
        var left: [@Sendable () -> Void]
        /// The number of those that were left when progress was last looked for.
        var seen: Int
    }
    private let state: Mutex<State>
    private let timer: DeadlineTimer
    private let id = Callbacks.newID()

    /// The time after which a thread that has begun no further end counts as stuck.
    private static let patience = Duration.milliseconds(10)

    /// Creates the ends, of which the first is begun first.
    init(_ ends: [@Sendable () -> Void], timer: DeadlineTimer) {
        state = Mutex(State(left: ends.reversed(), seen: ends.count))
        self.timer = timer
    }

    /// Begins the ends without waiting for them; where the system gives no thread, on this one.
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

    /// Looks after a while whether the work goes on, and takes it over if it does not, on a thread of the timer's.
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

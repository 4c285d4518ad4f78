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
        /// The function to call once they have returned.
        var last: (@Sendable () -> Void)?
        /// The number of functions that have not returned.
        var running = 0
        /// The number of functions that remained at the last check for progress, and of the checks without any.
        var seen: Int
        var standstills = 0
        /// The number of such checks after which ``last`` no longer waits for a stuck function.
        let mostStandstills: Int

        var isOver: Bool { left.isEmpty && last == nil }

        /// Takes the function to call next.
        mutating func next() -> (@Sendable () -> Void)? {
            let next: (@Sendable () -> Void)?
            if let end = left.popLast() {
                next = end
            } else {
                // A thread that stands still for a moment is not stuck.
                guard running == 0 || standstills >= mostStandstills else { return nil }
                next = last.take()
            }
            if next != nil { running += 1 }
            return next
        }
    }
    private let state: Mutex<State>
    private let timer: DeadlineTimer
    private let id = Callbacks.newID()

    /// The time without further progress after which a thread is considered stuck.
    private static let patience = Duration.milliseconds(10)

    /// Creates the closing of streams.
    ///
    /// - Parameters:
    ///   - ends: The functions that end the streams, in order.
    ///   - last: A function to call once they have returned, or are stuck for a while.
    ///   - patience: That time.
    init(
        _ ends: [@Sendable () -> Void], then last: (@Sendable () -> Void)? = nil,
        within patience: Duration = .seconds(3), timer: DeadlineTimer
    ) {
        state = Mutex(
            State(
                left: ends.reversed(), last: last, seen: ends.count,
                mostStandstills: Int(patience / Self.patience)))
        self.timer = timer
    }

    /// Starts to end the streams without waiting; if no other thread can be created, uses this one.
    func run() {
        let (count, isLast) = state.withLock { ($0.left.count, $0.last == nil) }
        guard count > 0 || !isLast else { return }
        if count > 1 || !isLast { watch() }
        if !HostThread.launch({ self.work() }) { work() }
    }

    private func work() {
        while let end = state.withLock({ $0.next() }) {
            end()
            state.withLock { $0.running -= 1 }
        }
        if state.withLock({ $0.isOver }) { timer.cancel(id) }
    }

    /// Checks periodically whether the work progresses; otherwise, takes it over on a thread of the timer.
    private func watch() {
        timer.schedule(id, at: .now + Self.patience) { [self] in
            let (isOver, isStuck) = state.withLock { state in
                let isStuck = state.left.count == state.seen
                (state.seen, state.standstills) = (state.left.count, isStuck ? state.standstills + 1 : 0)
                return (state.isOver, isStuck)
            }
            guard !isOver else { return }
            watch()
            if isStuck { work() }
        }
    }
}

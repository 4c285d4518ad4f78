import Backplane
import Synchronization
import Testing

@testable import BackplaneHost

/// A clock for timers that stands still until a test advances it.
final class ManualTimerClock: TimerClock {
    private struct State {
        var moment = Deadline(nanoseconds: 1_000_000_000)
        var actions: [UInt64: (moment: Deadline, action: @Sendable () -> Void)] = [:]
        var bodies = 0
        var begun = 0
    }
    private let state = Mutex(State())

    var moment: Deadline { state.withLock { $0.moment } }
    var hasJitter: Bool { false }
    /// The number of pending actions.
    var pending: Int { state.withLock { $0.actions.count } }
    /// The number of bodies that began so far.
    var begun: Int { state.withLock { $0.begun } }

    func schedule(_ id: UInt64, at moment: Deadline, _ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.actions[id] = (moment, action) }
    }
    func cancel(_ id: UInt64) { state.withLock { _ = $0.actions.removeValue(forKey: id) } }
    func bodyBegins() {
        state.withLock { state in
            state.bodies += 1
            state.begun += 1
        }
    }
    func bodyEnded() { state.withLock { $0.bodies -= 1 } }

    /// Advances step by step and begins what is due on this thread.
    func advance(by duration: Duration) {
        let end = moment + duration
        while let next = take(until: end) { next() }
        state.withLock { $0.moment = end }
    }

    /// The same, and waits for the bodies at each step.
    func run(for duration: Duration) async {
        let end = moment + duration
        await settle()
        while let next = take(until: end) {
            next()
            await settle()
        }
        state.withLock { $0.moment = end }
    }

    /// Waits until no body runs.
    func settle() async { await eventually { state.withLock { $0.bodies == 0 } } }

    private func take(until end: Deadline) -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard let next = state.actions.min(by: { $0.value.moment < $1.value.moment }), next.value.moment <= end
            else { return nil }
            state.actions[next.key] = nil
            state.moment = max(state.moment, next.value.moment)
            return next.value.action
        }
    }
}

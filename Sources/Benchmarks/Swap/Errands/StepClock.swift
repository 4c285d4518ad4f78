import Backplane
import BackplaneHost
import Synchronization

/// A clock that advances only in steps.
final class StepClock: HostClock {
    private struct State {
        var moment = Deadline.now
        var actions: [UInt64: (moment: Deadline, action: @Sendable () -> Void)] = [:]
        var bodies = 0
    }
    private let state = Mutex(State())

    var moment: Deadline { state.withLock { $0.moment } }
    var hasJitter: Bool { false }
    let polls = SystemClock()

    func schedule(_ id: UInt64, at moment: Deadline, _ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.actions[id] = (moment, action) }
    }
    func cancel(_ id: UInt64) { state.withLock { _ = $0.actions.removeValue(forKey: id) } }
    func bodyBegins() { state.withLock { $0.bodies += 1 } }
    func bodyEnded() { state.withLock { $0.bodies -= 1 } }

    /// Advances by a duration, and waits for the bodies of the timers that become due.
    func advance(by duration: Duration) async throws {
        let end = moment + duration
        try await settle()
        while let next = take(until: end) {
            next()
            try await settle()
        }
        state.withLock { $0.moment = end }
    }

    private func settle() async throws {
        while state.withLock({ $0.bodies > 0 }) { try await Task.sleep(for: .milliseconds(1)) }
    }

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

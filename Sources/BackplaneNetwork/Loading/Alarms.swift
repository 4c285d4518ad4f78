package import Backplane
import Synchronization

/// One of Swift's clocks as the clock of limits that rarely pass, in plugins and in programs without a host.
///
/// One task sleeps until the earliest alarm. A later alarm therefore requires only a dictionary entry, rather than a
/// task or a timer. Its actions must not block.
package final class Alarms: DeadlineClock {
    private struct Alarm {
        var time: Deadline
        var action: @Sendable () -> Void
    }
    private struct State {
        var alarms: [UInt64: Alarm] = [:]
        /// The task that sleeps, and the time at which it wakes up.
        var sleeper: (task: Task<Void, Never>, time: Deadline)?
    }
    private let now: @Sendable () -> Deadline
    private let sleep: @Sendable (Duration) async throws -> Void
    private let state = Mutex(State())

    /// The system's alarms of this process, or of the plugin that contains this copy of the library.
    package static let shared = Alarms(ContinuousClock())

    package init(_ clock: some Clock<Duration>) {
        let origin = Deadline.now, start = clock.now
        now = { origin + start.duration(to: clock.now) }
        sleep = { try await clock.sleep(for: $0) }
    }

    package var moment: Deadline { now() }

    package func schedule(_ id: UInt64, at time: Deadline, _ action: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.alarms[id] = Alarm(time: time, action: action)
            if state.sleeper.map({ time < $0.time }) ?? true { sleep(until: time, &state) }
        }
    }

    package func cancel(_ id: UInt64) {
        let removed = state.withLock { $0.alarms.removeValue(forKey: id) }
        withExtendedLifetime(removed) {}  // what an action holds is released after the lock
    }

    private func sleep(until time: Deadline, _ state: inout State) {
        state.sleeper?.task.cancel()
        let task = Task.detached { [self] in
            guard (try? await sleep(time - moment)) != nil else { return }
            wake(at: time)
        }
        state.sleeper = (task, time)
    }

    private func wake(at time: Deadline) {
        let due = state.withLock { state -> [Alarm] in
            guard state.sleeper?.time == time else { return [] }  // replaced by an earlier one
            let now = moment
            let due = state.alarms.filter { $0.value.time <= now }
            for id in due.keys { state.alarms[id] = nil }
            state.sleeper = nil
            // Each time all alarms are searched, so it happens at most once in a millisecond.
            if let next = state.alarms.values.map(\.time).min() {
                sleep(until: max(next, now + .milliseconds(1)), &state)
            }
            return due.values.sorted { $0.time < $1.time }
        }
        for alarm in due { alarm.action() }
    }
}

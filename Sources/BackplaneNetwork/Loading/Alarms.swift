import Synchronization

/// Actions at instants of the continuous clock, for time limits that rarely pass.
///
/// One task sleeps until the earliest alarm. A later alarm therefore requires only a dictionary entry, rather than a
/// task or a timer.
package final class Alarms: Sendable {
    package typealias Instant = ContinuousClock.Instant

    private struct Alarm {
        var time: Instant
        var action: @Sendable () -> Void
    }
    private struct State {
        var alarms: [Int: Alarm] = [:]
        /// The number of alarms that have ever been set.
        var count = 0
        /// The task that sleeps, and the time at which it wakes up.
        var sleeper: (task: Task<Void, Never>, time: Instant)?
    }
    private let state = Mutex(State())

    /// The alarms of this process, or of the plugin that contains this copy of the library.
    package static let shared = Alarms()

    package init() {}

    /// Calls an action at the given time, or soon afterwards.
    ///
    /// - Returns: The number of the alarm, which is greater than that of any earlier one.
    package func set(at time: Instant, _ action: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.count += 1
            state.alarms[state.count] = Alarm(time: time, action: action)
            if state.sleeper.map({ time < $0.time }) ?? true { sleep(until: time, &state) }
            return state.count
        }
    }

    /// Removes an alarm, whose action is then not called unless it has started; does nothing if there is no such alarm.
    package func remove(_ number: Int) {
        let removed = state.withLock { $0.alarms.removeValue(forKey: number) }
        withExtendedLifetime(removed) {}  // what an action holds is released after the lock
    }

    private func sleep(until time: Instant, _ state: inout State) {
        state.sleeper?.task.cancel()
        let task = Task.detached { [self] in
            guard (try? await Task.sleep(until: time, clock: .continuous)) != nil else { return }
            wake(at: time)
        }
        state.sleeper = (task, time)
    }

    private func wake(at time: Instant) {
        let due = state.withLock { state -> [Alarm] in
            guard state.sleeper?.time == time else { return [] }  // replaced by an earlier one
            let now = Instant.now
            let due = state.alarms.filter { $0.value.time <= now }
            for number in due.keys { state.alarms[number] = nil }
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

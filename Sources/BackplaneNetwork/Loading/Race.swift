package import Backplane
import Synchronization

/// A step that is abandoned once its time limit has passed, even if it ignores cancellation.
///
/// The class is not generic, because Swift's runtime would look up the metadata of each of its specialisations
/// repeatedly.
package final class Race: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Void, any Error>?
        var task: Task<Void, Never>?
        var isOver = false
    }
    /// Alarms have numbers in the upper half, because a host numbers its limits and deadlines in the lower one.
    private static let next = Atomic<UInt64>(1 << 63)
    /// Returns a number for an alarm that no race and no other caller has.
    package static func newAlarm() -> UInt64 { next.wrappingAdd(1, ordering: .relaxed).oldValue }

    private let alarm = newAlarm()
    private let clock: any DeadlineClock
    private let state = Mutex(State())

    private init(_ clock: any DeadlineClock) { self.clock = clock }

    package static func run<Value: Sendable>(
        by clock: any DeadlineClock = Alarms.shared, _ step: @escaping @Sendable () async throws -> Value,
        within limit: Duration, otherwise late: @autoclosure @escaping @Sendable () -> any Error
    ) async throws -> Value {
        guard limit > .zero else { throw late() }
        let end = clock.moment + limit
        return try await run(by: clock, step) { end > clock.moment ? .again(end) : .over(late()) }
    }

    package enum Look {
        case again(Deadline)
        case over(any Error)
    }

    /// Runs a step whose time limit changes while it runs.
    ///
    /// - Parameter look: A function that checks whether the limit has passed; `nil` means that there is no longer a
    ///   limit.
    package static func run<Value: Sendable>(
        by clock: any DeadlineClock = Alarms.shared, _ step: @escaping @Sendable () async throws -> Value,
        watchedBy look: @escaping @Sendable () -> Look?
    ) async throws -> Value {
        let race = Race(clock), result = StepResult<Value>()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                race.begin(continuation)
                race.add(
                    Task {
                        do {
                            result.value = try await step()
                            race.end(nil)
                        } catch { race.end(error) }
                    })
                race.watch(look)
            }
        } onCancel: {
            race.end(CancellationError())
        }
        return result.value!  // without an error, the step has stored its result
    }

    fileprivate static func pause(until end: Deadline, by clock: any DeadlineClock) async throws {
        let race = Race(clock)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                race.begin(continuation)
                race.wake(at: end) { race.end(nil) }
            }
        } onCancel: {
            race.end(CancellationError())
        }
    }

    private func begin(_ continuation: CheckedContinuation<Void, any Error>) {
        let isOver = state.withLock { state in
            if !state.isOver { state.continuation = continuation }
            return state.isOver
        }
        if isOver { continuation.resume(throwing: CancellationError()) }
    }

    private func add(_ task: Task<Void, Never>) {
        let isOver = state.withLock { state in
            if !state.isOver { state.task = task }
            return state.isOver
        }
        if isOver { task.cancel() }
    }

    /// Checks the limit now, and again whenever a check has requested it.
    private func watch(_ look: @escaping @Sendable () -> Look?) {
        switch look() {
        case .again(let time): wake(at: time) { [self] in watch(look) }
        case .over(let error): end(error)
        case nil: break
        }
    }

    private func wake(at time: Deadline, _ action: @escaping @Sendable () -> Void) {
        clock.schedule(alarm, at: time, action)
        if state.withLock({ $0.isOver }) { clock.cancel(alarm) }
    }

    private func end(_ error: (any Error)?) {
        let former = state.withLock { state in
            defer { state = State(isOver: true) }
            return state
        }
        former.task?.cancel()
        clock.cancel(alarm)
        if let error { former.continuation?.resume(throwing: error) } else { former.continuation?.resume() }
    }
}

extension DeadlineClock {
    package func pause(for duration: Duration) async throws {
        guard duration > .zero else { return try Task.checkCancellation() }
        try await Race.pause(until: moment + duration, by: self)
    }
}

/// The result of a step.
///
/// `@unchecked`: only the step writes it, and it is read only after a race that the step has ended, so no two threads
/// use it concurrently.
private final class StepResult<Value: Sendable>: @unchecked Sendable {
    var value: Value?
}

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
            // This searches all alarms, so it happens at most once in a millisecond.
            if let next = state.alarms.values.map(\.time).min() {
                sleep(until: max(next, now + .milliseconds(1)), &state)
            }
            return due.values.sorted { $0.time < $1.time }
        }
        for alarm in due { alarm.action() }
    }
}

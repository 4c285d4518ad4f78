import Synchronization

/// A step that is abandoned once its time limit has passed, even if it ignores cancellation.
///
/// The class is not generic, because Swift's runtime would look up the metadata of each of its specialisations
/// repeatedly.
package final class Race: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Void, any Error>?
        var task: Task<Void, Never>?
        /// The number of the alarm for the next check of the limit.
        var alarm = 0
        var isOver = false
    }
    private let state = Mutex(State())

    private init() {}

    /// Runs a step.
    ///
    /// - Throws: `late` once the limit has passed; `CancellationError` as soon as the task is cancelled; the errors of
    ///   the step. The step is cancelled in the first two cases, and a late result is released.
    package static func run<Value: Sendable>(
        _ step: @escaping @Sendable () async throws -> Value, within limit: Duration,
        otherwise late: @autoclosure @escaping @Sendable () -> any Error
    ) async throws -> Value {
        guard limit > .zero else { throw late() }
        let end = ContinuousClock.now + limit
        return try await run(step) { end > .now ? .again(end) : .over(late()) }
    }

    /// The result of checking a running step.
    package enum Look {
        case again(ContinuousClock.Instant)
        case over(any Error)
    }

    /// Runs a step whose time limit changes while it runs.
    ///
    /// - Parameter look: A function that checks whether the limit has passed; `nil` means that there is no longer a
    ///   limit.
    /// - Throws: The error of a check; `CancellationError` as soon as the task is cancelled; the errors of the step.
    package static func run<Value: Sendable>(
        _ step: @escaping @Sendable () async throws -> Value, watchedBy look: @escaping @Sendable () -> Look?
    ) async throws -> Value {
        let race = Race(), result = StepResult<Value>()
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

    /// Checks the limit, now and whenever a check has requested another.
    private func watch(_ look: @escaping @Sendable () -> Look?) {
        switch look() {
        case .again(let time):
            let alarm = Alarms.shared.set(at: time) { [self] in watch(look) }
            let isOver = state.withLock { state in
                // The alarm may have led to another one already.
                if !state.isOver { state.alarm = max(state.alarm, alarm) }
                return state.isOver
            }
            if isOver { Alarms.shared.remove(alarm) }
        case .over(let error): end(error)
        case nil: break
        }
    }

    /// Ends the race, unless it has ended.
    ///
    /// - Parameter error: The error with which to end it; `nil` if the step has stored its result.
    private func end(_ error: (any Error)?) {
        let former = state.withLock { state in
            defer { state = State(isOver: true) }
            return state
        }
        former.task?.cancel()
        if former.alarm > 0 { Alarms.shared.remove(former.alarm) }
        if let error { former.continuation?.resume(throwing: error) } else { former.continuation?.resume() }
    }
}

/// The result of a step.
///
/// `@unchecked`: only the step writes it, and it is read only after a race that the step has ended, so no two threads
/// use it concurrently.
private final class StepResult<Value: Sendable>: @unchecked Sendable {
    var value: Value?
}

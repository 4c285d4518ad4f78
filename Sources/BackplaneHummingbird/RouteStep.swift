#if Engines
import Backplane
import BackplaneHost
import BackplaneNetwork
import Synchronization

/// A step of a request in its own task, such as a handler, for which the request can stop waiting.
///
/// In the request's own task, a native call would run to its end, and a handler that never ends would leave the request
/// unanswered.
struct RouteStep<Value: Sendable>: Sendable {
    private let value: Awaited<Value>
    private let task: Task<Void, Never>

    /// Begins a step on this thread; most steps end before the initializer returns, so that no task has to wait.
    ///
    /// - Parameter threads: The threads on which the step continues after it has waited; `nil` for Swift's pool.
    init(continuingOn threads: WorkerThreads? = nil, _ body: @escaping @Sendable () async -> Value) {
        let value = Awaited<Value>()
        self.value = value
        task = Task.immediate(executorPreference: threads) { value.set(await body()) }
    }

    /// Begins a step on other threads.
    init(on threads: WorkerThreads, _ body: @escaping @Sendable () async -> Value) {
        let value = Awaited<Value>()
        self.value = value
        task = Task(executorPreference: threads) { value.set(await body()) }
    }

    /// Returns the result; `nil` at the deadline, when the task is cancelled, or after an interruption.
    func result(until deadline: Deadline?, by clock: any DeadlineClock) async -> Value? {
        await value.wait(until: deadline, by: clock)
    }

    /// Ends the current wait, or the next one.
    func interrupt() { value.giveUp() }

    /// Cancels the step, which may ignore it.
    func cancel() { task.cancel() }

    /// Cancels the step, and waits until it has ended.
    func cancelled() async {
        cancel()
        await task.value
    }
}

/// A value that is set once and awaited by one task.
final class Awaited<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var value: Value?
        var waiter: UnsafeContinuation<Value?, Never>?
        /// A Boolean value that indicates whether the next wait was given up before its beginning.
        var isGivenUp = false

        /// Returns the result of a wait that need not begin.
        mutating func result() -> Value?? {
            if let value { return .some(value) }
            guard isGivenUp else { return nil }
            isGivenUp = false
            return .some(nil)
        }
    }
    private let state = Mutex(State())

    func set(_ value: Value) {
        let waiter = state.withLock { state in
            state.value = value
            return state.waiter.take()
        }
        waiter?.resume(returning: value)
    }

    /// Waits for the value; returns `nil` at the deadline, when the task is cancelled, or once the wait is given up.
    func wait(until deadline: Deadline?, by clock: any DeadlineClock) async -> Value? {
        // Only a missing value needs an alarm.
        if let result = state.withLock({ $0.result() }) { return result }
        let alarm = Race.newAlarm()
        if let deadline { clock.schedule(alarm, at: deadline) { self.giveUp() } }
        defer { if deadline != nil { clock.cancel(alarm) } }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let result = state.withLock { state in
                    let result = state.result()
                    if result == nil { state.waiter = continuation }
                    return result
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            giveUp()
        }
    }

    func giveUp() {
        let waiter = state.withLock { state in
            if state.waiter == nil { state.isGivenUp = true }
            return state.waiter.take()
        }
        waiter?.resume(returning: nil)
    }
}
#endif

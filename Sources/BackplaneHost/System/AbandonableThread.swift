import Backplane
import Synchronization

/// A thread for functions that may never return, which is abandoned if one does not.
enum AbandonableThread {
    /// A step of the work on every value.
    struct Step<Value: Sendable>: Sendable {
        /// A Boolean value that indicates whether the limit applies; otherwise, the step ends by itself.
        var isLimited = true
        let body: @Sendable (Value) -> Value
    }

    /// Takes all values through the steps, one after another on one thread: all through the first one, then all through
    /// the second one.
    ///
    /// After a step that takes longer than `limit` for a value, another thread continues.
    ///
    /// - Parameters:
    ///   - late: A function that returns the substitute for the result of a step that takes too long.
    ///   - unable: A function that returns it for a step for which no thread could be created.
    static func map<Value: Sendable>(
        _ values: [Value], through steps: [Step<Value>], limit: Duration, by clock: any HostClock,
        late: @escaping @Sendable (Value, _ step: Int) -> Value, unable: @escaping @Sendable (Value) -> Value
    ) -> [Value] {
        values.isEmpty ? [] : Work(values, steps, limit, clock, late: late, unable: unable).results()
    }

    /// The work of a thread, and of those that replace it.
    private final class Work<Value: Sendable>: Sendable {
        private struct State {
            var values: [Value]
            /// The number of steps that have ended, each for one value.
            var ended = 0
            /// The time at which the present step began.
            var began: Deadline
            /// The number of the present thread; the results of earlier ones are discarded.
            var thread = 0

            mutating func end(with value: Value, at time: Deadline) {
                values[ended % values.count] = value
                (ended, began) = (ended + 1, time)
            }
        }
        private let steps: [Step<Value>]
        private let count: Int
        private let limit: Duration
        private let clock: any HostClock
        private let late: @Sendable (Value, Int) -> Value
        private let unable: @Sendable (Value) -> Value
        private let alarm = Callbacks.newID()
        private let state: Monitor<State>

        init(
            _ values: [Value], _ steps: [Step<Value>], _ limit: Duration, _ clock: any HostClock,
            late: @escaping @Sendable (Value, Int) -> Value, unable: @escaping @Sendable (Value) -> Value
        ) {
            (self.steps, self.limit, self.clock, self.late, self.unable) = (steps, limit, clock, late, unable)
            count = values.count * steps.count
            state = Monitor(State(values: values, began: clock.moment))
        }

        /// Does the work, and waits for its end.
        func results() -> [Value] {
            expire(at: clock.moment + limit)
            defer { clock.cancel(alarm) }
            start(0)
            return state.wait { $0.ended == self.count ? .done($0.values) : .until(nil) }
        }

        private func start(_ thread: Int) {
            if HostThread.launch({ self.run(thread) }) { return }
            state.withLock { state in
                while state.ended < count { state.end(with: unable(present(state).value), at: clock.moment) }
            }
        }

        private func run(_ thread: Int) {
            var result: Value?
            while let (step, value) = next(thread, after: result) { result = steps[step].body(value) }
        }

        /// Stores the result of a step, and returns the next one; `nil` if there is none, or the thread was abandoned.
        private func next(_ thread: Int, after result: Value?) -> (step: Int, value: Value)? {
            let time = clock.moment
            return state.withLock(waking: { state -> (result: (step: Int, value: Value)?, wakes: Bool) in
                guard state.thread == thread else { return (nil, false) }
                if let result { state.end(with: result, at: time) }
                // Only the end wakes the waiter, which would often take longer than a step.
                return state.ended < count ? (present(state), false) : (nil, true)
            })
        }

        private func present(_ state: State) -> (step: Int, value: Value) {
            (state.ended / state.values.count, state.values[state.ended % state.values.count])
        }

        /// Abandons the thread at the deadline, if its step has taken too long by then.
        private func expire(at deadline: Deadline) {
            clock.schedule(alarm, at: deadline) { [self] in
                let (replacement, next) = state.withLock { state -> (Int?, Deadline?) in
                    guard state.ended < count else { return (nil, nil) }
                    let time = clock.moment, (step, value) = present(state)
                    guard steps[step].isLimited else { return (nil, time + limit) }
                    guard state.began + limit <= time else { return (nil, state.began + limit) }
                    state.end(with: late(value, step), at: time)
                    state.thread += 1
                    return state.ended < count ? (state.thread, time + limit) : (nil, nil)
                }
                if let next { expire(at: next) }
                if let replacement { start(replacement) }
            }
        }
    }
}

/// An executor that runs an async function on the thread that waits for it, no matter how busy Swift's thread pool is.
package final class CallingThread: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isToBeCancelled = false
        var isDone = false
    }
    private enum Step {
        case run([UnownedJob]), cancel, end
    }
    private final class Outcome<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }
    private let state = Monitor(State())

    package init() {}

    /// Runs `work` on the calling thread and returns its result.
    ///
    /// - Precondition: The method has not been called before.
    package func run<Result: Sendable>(_ work: @escaping @Sendable () async -> Result) -> Result {
        let outcome = Outcome<Result>()
        let task = Task(executorPreference: self) {
            let value = await work()
            outcome.value.withLock { $0 = value }
            self.state.withLock { $0.isDone = true }
        }
        runJobs { task.cancel() }
        guard let value = outcome.value.withLock({ $0 }) else { preconditionFailure("it has ended without an outcome") }
        return value
    }

    /// Cancels the work on the thread that runs it, as soon as that thread is free.
    ///
    /// A plugin's cancellation handler may block that thread, but no other.
    package func cancel() {
        state.withLock { $0.isToBeCancelled = true }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
    }

    private func runJobs(cancelling cancel: () -> Void) {
        while true {
            switch next() {
            case .run(let jobs): for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
            case .cancel: cancel()
            case .end: return
            }
        }
    }

    private func next() -> Step {
        state.wait { state in
            if state.isToBeCancelled {
                state.isToBeCancelled = false
                return .done(.cancel)
            }
            if !state.jobs.isEmpty {
                defer { state.jobs = [] }
                return .done(.run(state.jobs))
            }
            return state.isDone ? .done(.end) : .until(nil)
        }
    }
}

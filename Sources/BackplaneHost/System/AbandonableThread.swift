import Backplane
import Synchronization

/// A thread for functions that may never return, which is abandoned if they do not.
enum AbandonableThread {
    /// The results of the thread so far; adding one does not wake the waiter, which would often take longer than the
    /// work.
    private final class Progress<Output: Sendable>: Sendable {
        private struct State {
            var outputs: [Output] = []
            var last: Deadline
            var isDone = false
            /// A Boolean value that indicates whether the thread was abandoned, so that further results are discarded.
            var isLost = false
        }
        private let state: Monitor<State>
        private let clock: any HostClock
        private let limit: Duration
        private let alarm = Callbacks.newID()

        init(_ limit: Duration, _ clock: any HostClock) {
            (self.limit, self.clock, state) = (limit, clock, Monitor(State(last: clock.moment)))
        }

        /// Adds a result, or returns `false` if the thread was abandoned.
        func add(_ output: Output) -> Bool {
            let time = clock.moment
            return state.withLock(waking: { state in
                guard !state.isLost else { return (false, wakes: false) }
                state.outputs.append(output)
                state.last = time
                return (true, wakes: false)
            })
        }

        func end() { state.withLock { $0.isDone = true } }

        /// Waits until the thread has finished, or has added no result for longer than the limit.
        func wait() -> [Output] {
            expire(at: clock.moment + limit)
            defer { clock.cancel(alarm) }
            return state.wait { $0.isDone || $0.isLost ? .done($0.outputs) : .until(nil) }
        }

        private func expire(at deadline: Deadline) {
            clock.schedule(alarm, at: deadline) { [self] in
                let next = state.withLock { state -> Deadline? in
                    guard !state.isDone else { return nil }
                    guard state.last + limit <= clock.moment else { return state.last + limit }
                    state.isLost = true
                    return nil
                }
                if let next { expire(at: next) }
            }
        }
    }

    /// Returns the results of `body` for all values, computed one after another on one thread.
    ///
    /// After a value that takes longer than `limit`, another thread continues with the next one.
    ///
    /// - Parameters:
    ///   - unable: The result for a value for which no thread could be created.
    ///   - late: A function that returns the substitute result for a value that takes too long.
    static func map<Input: Sendable, Output: Sendable>(
        _ inputs: [Input], limit: Duration, by clock: any HostClock, unable: Output,
        _ body: @escaping @Sendable (Input) -> Output, late: (Input) -> Output
    ) -> [Output] {
        var outputs: [Output] = []
        while outputs.count < inputs.count {
            let first = outputs.count, progress = Progress<Output>(limit, clock)
            let begins = HostThread.launch {
                for input in inputs[first...] { guard progress.add(body(input)) else { return } }
                progress.end()
            }
            guard begins else {
                outputs.append(unable)
                continue
            }
            outputs += progress.wait()
            if outputs.count < inputs.count { outputs.append(late(inputs[outputs.count])) }
        }
        return outputs
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

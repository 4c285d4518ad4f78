import Backplane
import Synchronization

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

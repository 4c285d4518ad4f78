import Backplane
import Synchronization

/// Runs an async function on the thread that waits for it, however busy Swift's thread pool is.
package final class CallingThread: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isDone = false
    }
    private enum Step {
        case run([UnownedJob]), look, end
    }
    private final class Outcome<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }
    private let state = Monitor(State())

    private init() {}

    /// Runs `work` here, and returns what it returns.
    ///
    /// - Parameter isUnwanted: looked at four times a second; once it is `true` the work is cancelled, and waited for all the same.
    package static func run<Result: Sendable>(cancelledWhen isUnwanted: () -> Bool, _ work: @escaping @Sendable () async -> Result) -> Result {
        let thread = CallingThread(), outcome = Outcome<Result>()
        let task = Task(executorPreference: thread) {
            let value = await work()
            outcome.value.withLock { $0 = value }
            thread.state.withLock { $0.isDone = true }
        }
        thread.work { if isUnwanted() { task.cancel() } }
        guard let value = outcome.value.withLock({ $0 }) else { preconditionFailure("it is done and has no outcome") }
        return value
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
    }

    private func work(looking look: () -> Void) {
        while true {
            switch next(by: .now + .milliseconds(250)) {
            case .run(let jobs): for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
            case .look: look()
            case .end: return
            }
        }
    }

    private func next(by deadline: Deadline) -> Step {
        state.wait { state in
            if !state.jobs.isEmpty {
                defer { state.jobs = [] }
                return .done(.run(state.jobs))
            }
            if state.isDone { return .done(.end) }
            return deadline <= .now ? .done(.look) : .until(deadline)
        }
    }
}

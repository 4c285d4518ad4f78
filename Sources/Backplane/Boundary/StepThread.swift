import CBackplane
import Synchronization

/// An executor that runs one task outside Swift's thread pool, which plugins may occupy.
///
/// The task begins on the calling thread. After it has suspended, it continues on its own threads.
final class StepThread: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isRunning = true
    }
    private let state = Mutex(State())

    /// Starts `work`, and waits until it has ended or suspended.
    static func run(_ work: @escaping @Sendable () async -> Void) {
        let thread = StepThread()
        Task(executorPreference: thread) { await work() }
        thread.run()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard needsThread else { return }
        // The end of the task releases its executor, which still has to look for a further job.
        let own = Unmanaged.passRetained(self)
        let started = bp_start_thread(
            { Unmanaged<StepThread>.fromOpaque($0).takeRetainedValue().run() }, own.toOpaque())
        guard started == 0 else { return }
        // The system has no thread left, so the thread that resumes the task runs it.
        own.takeRetainedValue().run()
    }

    private func run() {
        while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func next() -> UnownedJob? {
        state.withLock { state in
            state.isRunning = !state.jobs.isEmpty
            return state.jobs.isEmpty ? nil : state.jobs.removeFirst()
        }
    }
}

import Backplane

/// An executor that runs an actor on a separate thread, no matter how busy Swift's thread pool is.
///
/// A task that awaits a continuation is resumed on the pool before it returns to its actor, unless it prefers another
/// executor. Tasks that must not wait for the pool run in `withTaskExecutorPreference` with this executor.
///
/// If the system cannot create a thread, Swift's pool runs the jobs, still one at a time.
final class ThreadExecutor: SerialExecutor, TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isRunning = false
        var isRetired = false
    }
    private let name: String
    private let state = Monitor(State())

    init(name: String) { self.name = name }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if needsThread, !HostThread.tryStart(name, { self.run() }) { Task.detached { self.runOnPool() } }
    }

    /// Starts the thread before the first job, or returns `false` if it cannot be created.
    func begin() -> Bool {
        let needsThread = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if !needsThread || HostThread.tryStart(name, { self.run() }) { return true }
        Task.detached { self.runOnPool() }
        return false
    }

    /// Runs the pending jobs; the next one tries to start the thread again.
    private func runOnPool() {
        func next() -> [UnownedJob]? {
            state.withLock { state in
                state.isRunning = !state.jobs.isEmpty
                defer { state.jobs = [] }
                return state.isRunning ? state.jobs : nil
            }
        }
        while let jobs = next() {
            for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
        }
    }

    /// Runs `work`, and all other jobs, on the calling thread if the executor has no thread.
    ///
    /// - Returns: `false` if `work` has not ended by the deadline.
    func runOnCallingThread(until deadline: Deadline, _ work: @escaping @Sendable () async -> Void) -> Bool {
        let hasEnded = Monitor(false)
        let isRunning = state.withLock { state in
            defer { state.isRunning = true }
            return state.isRunning
        }
        Task(executorPreference: self) {
            await work()
            hasEnded.withLock { $0 = true }
        }
        guard !isRunning else {
            return hasEnded.wait { $0 ? .done(true) : .now >= deadline ? .done(false) : .until(deadline) }
        }
        defer { leaveCallingThread() }
        while !hasEnded.withLock({ $0 }) {
            let jobs = state.wait { state in
                defer { state.jobs = [] }
                return state.jobs.isEmpty && .now < deadline ? .until(deadline) : .done(state.jobs)
            }
            guard !jobs.isEmpty else { return false }
            for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
        }
        return true
    }

    /// Leaves the jobs that were added after the last batch to another thread, since no later job may start one.
    private func leaveCallingThread() {
        let needsThread = state.withLock { state in
            state.isRunning = !state.jobs.isEmpty
            return state.isRunning
        }
        if needsThread, !HostThread.tryStart(name, { self.run() }) { Task.detached { self.runOnPool() } }
    }

    /// Lets the thread end when there are no jobs left; a later job starts another one.
    func retire() {
        state.withLock { $0.isRetired = true }
    }

    private func run() {
        while let jobs = next() {
            for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
        }
    }

    private func next() -> [UnownedJob]? {
        state.wait { state in
            guard state.jobs.isEmpty else {
                defer { state.jobs = [] }
                return .done(state.jobs)
            }
            guard state.isRetired else { return .until(nil) }
            state.isRunning = false
            return .done(nil)
        }
    }
}

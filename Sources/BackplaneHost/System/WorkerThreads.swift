import Backplane
import Glibc

/// The threads for work that may block, such as the handlers of one manager, which then delay no other manager.
///
/// Threads start when work waits, up to a maximum number, and end when there has been none for a while.
///
/// `@unchecked`: every access to the state holds the lock.
package final class WorkerThreads: TaskExecutor, @unchecked Sendable {
    private static let patience = Duration.seconds(10)
    private let name: String
    private let most = max(2, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    // A condition that wakes one thread: a job needs no more.
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let hasWork = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var jobs: [UnownedJob] = []
    /// The number of jobs at the beginning of the list that have been taken.
    private var taken = 0
    private var threads = 0, idle = 0

    /// Creates an executor without threads.
    ///
    /// - Parameter name: The name of the threads; debuggers show its first 15 bytes.
    package init(_ name: String) {
        self.name = name
        lock.initialize(to: pthread_mutex_t())
        hasWork.initialize(to: pthread_cond_t())
        pthread_mutex_init(lock, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(hasWork, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(hasWork)
        pthread_mutex_destroy(lock)
        hasWork.deallocate()
        lock.deallocate()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pthread_mutex_lock(lock)
        jobs.append(job)
        let starts = jobs.count - taken > idle && threads < most
        if starts { threads += 1 } else if idle > 0 { pthread_cond_signal(hasWork) }
        pthread_mutex_unlock(lock)
        if starts { start() }
    }

    private func start() {
        guard !HostThread.tryStart(name, { self.run { self.next() } }) else { return }
        pthread_mutex_lock(lock)
        threads -= 1
        let isAlone = threads == 0
        pthread_mutex_unlock(lock)
        // The system has no thread left, so Swift's pool does the work.
        if isAlone { Task.detached { self.run { self.nextAtOnce() } } }
    }

    private func run(_ next: () -> UnownedJob?) {
        while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Returns the next job; `nil` if none has come in time, after which the thread ends.
    private func next() -> UnownedJob? {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while taken == jobs.count {
            let end = (Deadline.now + Self.patience).nanoseconds
            var time = timespec(tv_sec: Int(end / 1_000_000_000), tv_nsec: Int(end % 1_000_000_000))
            idle += 1
            let status = pthread_cond_timedwait(hasWork, lock, &time)
            idle -= 1
            if status == ETIMEDOUT, taken == jobs.count {
                threads -= 1
                return nil
            }
        }
        return take()
    }

    private func nextAtOnce() -> UnownedJob? {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return taken < jobs.count ? take() : nil
    }

    private func take() -> UnownedJob {
        let job = jobs[taken]
        taken += 1
        if taken == jobs.count || taken > 1_024 {
            jobs.removeFirst(taken)
            taken = 0
        }
        return job
    }

    /// Returns the result of a function that may block its thread.
    @concurrent package func run<Value: Sendable>(_ body: @Sendable () throws -> Value) async throws -> Value {
        try await withTaskExecutorPreference(self) { try await Self.call(body) }
    }

    @concurrent private static func call<Value>(_ body: @Sendable () throws -> Value) async throws -> Value {
        try body()
    }
}

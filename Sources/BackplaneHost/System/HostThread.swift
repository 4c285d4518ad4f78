import Backplane
import Foundation
import Glibc
import Synchronization

/// A namespace for threads of the host, for work that must not wait while plugins occupy Swift's thread pool.
package enum HostThread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs `body` on a new detached thread, or returns `false` if the system cannot create one.
    ///
    /// - Parameter name: The name of the thread in debuggers, at most 15 bytes.
    package static func tryStart(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        let context = Unmanaged.passRetained(
            Body {
                nameThisThread(name)
                body()
            })
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { context in
                Unmanaged<Body>.fromOpaque(context!).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        guard status == 0 else {
            context.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// Runs a plugin's function, which may never return, on an idle thread or a new one, without waiting for it.
    ///
    /// - Returns: `false` if the system cannot create a thread, in which case the function is not run.
    static func launch(_ body: @escaping @Sendable () -> Void) -> Bool {
        if idle.take(body) { return true }
        let first = Mutex<(@Sendable () -> Void)?>(body)
        return tryStart("bp-plugin") {
            // Taken, because a thread retains the values that its function captures until it ends.
            first.withLock { $0.take() }?()
            while let next = idle.wait() { next() }
        }
    }

    private static let idle = IdleThreads(most: 4, patience: .seconds(5))

    private static func nameThisThread(_ name: String) {
        guard let file = fopen("/proc/thread-self/comm", "w") else { return }
        fputs(String(name.prefix(15)), file)
        fclose(file)
    }
}

/// The threads that have finished their work and wait for more, because waking one costs less than half of creating
/// one.
///
/// They belong to the process: a thread that has returned from a plugin retains no part of the host for which it
/// worked, and may return after that host has ended.
private final class IdleThreads: Sendable {
    private struct State {
        var waiting = 0
        var work: [@Sendable () -> Void] = []
    }
    private let most: Int
    private let patience: Duration
    private let state = Monitor(State())

    init(most: Int, patience: Duration) {
        (self.most, self.patience) = (most, patience)
    }

    /// Passes `body` to an idle thread, or returns `false` if there is none.
    func take(_ body: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.work.count < state.waiting else { return false }
            state.work.append(body)
            return true
        }
    }

    /// Waits for work; returns `nil` if none arrived in time, or if enough other threads are idle.
    func wait() -> (@Sendable () -> Void)? {
        let end = Deadline.now + patience
        guard
            state.withLock({ state in
                guard state.waiting < most else { return false }
                state.waiting += 1
                return true
            })
        else { return nil }
        return state.wait { state in
            if !state.work.isEmpty {
                state.waiting -= 1
                return .done(state.work.removeFirst())
            }
            guard Deadline.now >= end else { return .until(end) }
            state.waiting -= 1
            return .done(nil)
        }
    }
}

/// An executor that runs an actor on a separate thread, no matter how busy Swift's thread pool is.
///
/// A task that awaits a continuation is resumed on the pool before it returns to its actor, unless it prefers another
/// executor. Tasks that must not wait for the pool run in `withTaskExecutorPreference` with this executor.
final class ThreadExecutor: SerialExecutor, TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isRunning = false
        var isRetired = false

        /// Records that the thread runs, and returns whether it has to be started.
        mutating func takeThread() -> Bool {
            defer { isRunning = true }
            return !isRunning
        }
    }
    private let name: String
    private let state = Monitor(State())

    init(name: String) { self.name = name }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // In one step with the start: once the job has run, the executor may be gone.
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            return state.takeThread()
        }
        if needsThread { _ = startThread() }
    }

    /// Starts the thread unless it runs; returns `false` if it cannot be created.
    func begin() -> Bool {
        let needsThread = state.withLock { $0.takeThread() }
        return !needsThread || startThread()
    }

    /// Starts the thread; if it cannot be created, Swift's pool runs any jobs.
    private func startThread() -> Bool {
        if HostThread.tryStart(name, { self.run() }) { return true }
        let hasJobs = state.withLock { state in
            state.isRunning = !state.jobs.isEmpty
            return state.isRunning
        }
        if hasJobs { Task.detached { self.run() } }
        return false
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

/// A reference that makes every host link Foundation, although the host itself does not use it.
///
/// Foundation assumes that the thread that loads it is the program's main thread, and binds the main queue to it. If a
/// plugin were the first to load it, that thread would be the coordinator's, and work that the program awaits on its
/// main actor would never resume. Linked into the program, it is loaded by the actual main thread before anything else.
enum MainQueue {
    /// A reference to Foundation, which prevents linkers from dropping the library.
    static let owner: AnyClass = RunLoop.self
}

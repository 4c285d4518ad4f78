import Foundation
import Synchronization

/// A thread for one task and everything that it calls.
///
/// It allows more concurrent callers than Swift's thread pool has threads.
package final class CallerThread: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let semaphore = DispatchSemaphore(value: 0)
    private let isOver = Atomic(false)

    /// Runs `body` on a new thread.
    package static func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        let thread = CallerThread()
        Thread.detachNewThread { thread.work() }
        let value = await Task(executorPreference: thread) { await body() }.value
        thread.isOver.store(true, ordering: .relaxed)
        thread.semaphore.signal()
        return value
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        semaphore.signal()
    }

    private func work() {
        while true {
            semaphore.wait()
            let next = jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            if let next {
                next.runSynchronously(on: asUnownedTaskExecutor())
            } else if isOver.load(ordering: .relaxed) {
                return
            }
        }
    }
}

import Foundation
import Synchronization

/// The thread on which the program started.
package enum MainThread {
    /// The names of the commands that measure.
    package static let measuringCommands = ["bench", MeasuringChild.command]

    /// Runs `body` on Swift's thread pool while the main thread waits; returns `nil` immediately on any other thread.
    ///
    /// Valgrind 3.19 crashes when an idle main thread is parked. Blocking the thread before the program first suspends
    /// makes callgrind usable; the measurements do not need the main thread.
    package static func hold<Value: Sendable>(during body: @escaping @Sendable () async -> Value) -> Value? {
        guard Thread.isMainThread else { return nil }
        let waiting = Waiting<Value>()
        Task.detached { waiting.end(with: await body()) }
        return waiting.value
    }

    private final class Waiting<Value: Sendable>: Sendable {
        private let result = Mutex<Value?>(nil)
        private let semaphore = DispatchSemaphore(value: 0)

        func end(with value: Value) {
            result.withLock { $0 = value }
            semaphore.signal()
        }

        var value: Value? {
            semaphore.wait()
            return result.withLock(\.self)
        }
    }
}

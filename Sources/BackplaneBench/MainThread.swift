import Foundation
import Synchronization

/// The thread that the program began on.
enum MainThread {
    /// Runs `body` on Swift's own threads while this one waits; `nil`, nothing having been run, when this is not the main thread.
    ///
    /// A main thread with nothing to do is parked in a way that valgrind (3.19) does not survive. Held here, the program can be
    /// looked at under callgrind; nothing that is measured needs this thread.
    static func hold<Value: Sendable>(during body: @escaping @Sendable () async -> Value) -> Value? {
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

package import Backplane
package import BackplaneStorage
import Synchronization

/// The tasks that wait for changes of collections; writes wake them and never wait for them.
package final class ChangeSignals: Sendable {
    private struct Waiting {
        var namespace, collection: String
        var signal: AsyncStream<Void>.Continuation
        /// A Boolean value that indicates whether the task waits for the signal, rather than reading.
        var isAwaited = false
    }
    private let state = Mutex<(last: Int, waiting: [Int: Waiting])>((0, [:]))

    package init() {}

    /// The number of tasks that are waiting for a signal, rather than reading.
    package var waitingTasks: Int { state.withLock { $0.waiting.values.count { $0.isAwaited } } }

    /// Wakes the tasks that wait for a collection of a batch, once the batch is written.
    package func written(_ batch: RecordBatch, in namespace: String) {
        let signals = state.withLock { state -> [AsyncStream<Void>.Continuation] in
            guard !state.waiting.isEmpty else { return [] }
            let collections = Set(batch.changes.map(\.collection))
            return state.waiting.values.filter { $0.namespace == namespace && collections.contains($0.collection) }
                .map(\.signal)
        }
        for signal in signals { signal.yield() }
    }

    /// Waits until the number of a collection's last change differs from the known one.
    ///
    /// - Parameter last: A function that returns the number of the last change, or 0 for none; it is called initially
    ///   and after each change.
    /// - Throws: `call.cancelled`; the errors of `last`.
    package func wait(
        for collection: String, in namespace: String, since change: Int64,
        last: () async throws(BackplaneError) -> Int64
    ) async throws(BackplaneError) {
        // A signal that was sent before the task waits is received, too.
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.last += 1
            state.waiting[state.last] = Waiting(namespace: namespace, collection: collection, signal: signal)
            return state.last
        }
        defer { state.withLock { _ = $0.waiting.removeValue(forKey: number) } }
        var iterator = signals.makeAsyncIterator()
        while try await last() == change {
            state.withLock { $0.waiting[number]?.isAwaited = true }
            guard await iterator.next() != nil, !Task.isCancelled else { throw .waitCancelled }
            state.withLock { $0.waiting[number]?.isAwaited = false }
        }
    }
}

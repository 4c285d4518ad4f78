package import Backplane
package import BackplaneStorage
import Synchronization

/// The tasks that wait for changes of collections; writes wake them and never wait for them.
package final class ChangeSignals: Sendable {
    private struct State {
        var last = 0
        var waiting: [Int: (namespace: String, collection: String, signal: Signal)] = [:]
    }
    private let state = Mutex(State())

    package init() {}

    /// The number of tasks that are waiting for a signal, rather than reading.
    package var waitingTasks: Int { state.withLock { $0.waiting.values.count { $0.signal.isAwaited } } }

    /// Wakes the tasks that wait for a collection of a batch, once the batch is written.
    package func written(_ batch: RecordBatch, in namespace: String) {
        let signals = state.withLock { state -> [Signal] in
            guard !state.waiting.isEmpty else { return [] }
            let collections = Set(batch.changes.map(\.collection))
            return state.waiting.values.filter { $0.namespace == namespace && collections.contains($0.collection) }
                .map(\.signal)
        }
        for signal in signals { signal.send() }
    }

    /// Wakes all tasks, because it is unknown which collections were written.
    package func writtenElsewhere() {
        for signal in state.withLock({ $0.waiting.values.map(\.signal) }) { signal.send() }
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
        let signal = Signal()
        let number = state.withLock { state in
            state.last += 1
            state.waiting[state.last] = (namespace, collection, signal)
            return state.last
        }
        defer { state.withLock { _ = $0.waiting.removeValue(forKey: number) } }
        while try await last() == change {
            await signal.wait()
            if Task.isCancelled { throw .waitCancelled }
        }
    }
}

/// A signal to one task, which also receives it if it was sent before the task waits.
private final class Signal: Sendable {
    private enum State {
        case silent, sent
        case awaited(UnsafeContinuation<Void, Never>)
    }
    private let state = Mutex(State.silent)

    var isAwaited: Bool {
        state.withLock { state in
            if case .awaited = state { return true }
            return false
        }
    }

    func send() {
        let waiting = state.withLock { state -> UnsafeContinuation<Void, Never>? in
            defer { state = .sent }
            if case .awaited(let continuation) = state { return continuation }
            return nil
        }
        waiting?.resume()
    }

    /// Waits for the next signal, or until the task is cancelled.
    func wait() async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let isSent = state.withLock { state in
                    if case .sent = state { return true }
                    state = .awaited(continuation)
                    return false
                }
                if isSent { continuation.resume() }
            }
            state.withLock { $0 = .silent }
        } onCancel: {
            send()
        }
    }
}

import Synchronization

/// A state on which tasks can wait.
///
/// A waiting task resumes immediately with the change that meets its condition.
final class WatchedState<State: Sendable>: Sendable {
    private struct Waiter: Sendable {
        var id: UInt64
        var isReached: @Sendable (State) -> Bool
        var continuation: CheckedContinuation<Void, any Error>
    }
    private struct Guarded: Sendable {
        var state: State
        var waiters: [Waiter] = []
        var nextID: UInt64 = 0
    }
    private let guarded: Mutex<Guarded>

    init(_ state: State) { guarded = Mutex(Guarded(state: state)) }

    var value: State { guarded.withLock(\.state) }

    /// Changes the state, and resumes the tasks whose condition it meets, in the order of their arrival.
    @discardableResult
    func change<Result: Sendable>(_ body: @Sendable (inout State) -> Result) -> Result {
        let (result, reached) = guarded.withLock { guarded in
            let result = body(&guarded.state)
            let reached = guarded.waiters.filter { $0.isReached(guarded.state) }
            let ids = Set(reached.map(\.id))
            guarded.waiters.removeAll { ids.contains($0.id) }
            return (result, reached)
        }
        for waiter in reached { waiter.continuation.resume() }
        return result
    }

    /// Waits until the state meets a condition; returns immediately if it does.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    func wait(until isReached: @escaping @Sendable (State) -> Bool) async throws {
        let id = guarded.withLock { guarded in
            guarded.nextID += 1
            return guarded.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Void, any Error>? = guarded.withLock { guarded in
                    if isReached(guarded.state) { return .success(()) }
                    // Checked under the lock: a cancellation after this finds the waiter.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    guarded.waiters.append(Waiter(id: id, isReached: isReached, continuation: continuation))
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let waiter = guarded.withLock { guarded in
                guarded.waiters.firstIndex { $0.id == id }.map { guarded.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }
}

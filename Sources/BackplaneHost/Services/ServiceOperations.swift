import Backplane
import Synchronization

/// The operations of one component on services, each cancelled by its id or at its deadline, and answered exactly once.
final class ServiceOperations: Sendable {
    private struct Operation {
        var task: Task<Void, Never>
        let isWait: Bool
        /// The error with which the operation ends if it is cut short; `nil` means the error of a cancellation.
        var cause: BackplaneError?
    }
    private struct State {
        var operations: [UInt64: Operation] = [:]
        var isRetired = false
    }
    let clock: any HostClock
    private let state = Mutex(State())

    init(clock: any HostClock) { self.clock = clock }

    /// Starts an operation, unless the deadline of its call has passed.
    ///
    /// - Parameters:
    ///   - noun: The name of the operation in errors: `the operation on the store`.
    ///   - isWait: Whether the operation has no end of its own, so that it ends with the component.
    ///   - answer: A function that receives the result. An operation that was cut short has changed nothing.
    /// - Returns: The id by which the operation can be cancelled, or 0 if it has already ended.
    func start<Value: Sendable>(
        _ noun: String, _ call: Call?, isWait: Bool,
        _ run: @escaping @Sendable () async throws(BackplaneError) -> Value,
        _ answer: @escaping @Sendable (Result<Value, BackplaneError>) -> Void
    ) -> UInt64 {
        if let deadline = call?.deadline, deadline <= clock.moment {
            answer(.failure(.deadlinePassed(before: "\(noun) began")))
            return 0
        }
        let id = Callbacks.newID()
        let isLate = state.withLock { state in
            state.operations[id] = Operation(
                task: Task {
                    let result = await Self.result(of: run, noun)
                    answer(self.end(id, result))
                }, isWait: isWait)
            return state.isRetired && isWait
        }
        // The component was closed between its request and this.
        if isLate { cancel(id, because: .askerStopped) }
        if let deadline = call?.deadline {
            clock.schedule(id, at: deadline) {
                self.cancel(id, because: .deadlinePassed(before: "\(noun) ended"))
            }
        }
        guard state.withLock({ $0.operations[id] == nil }) else { return id }
        clock.cancel(id)
        return 0
    }

    /// Ends the operations without an end of their own, because their component is no longer running.
    func retireWaits() {
        let waits = state.withLock { state in
            state.isRetired = true
            return state.operations.filter(\.value.isWait).map(\.key)
        }
        for id in waits { cancel(id, because: .askerStopped) }
    }

    func cancel(_ id: UInt64, because cause: BackplaneError? = nil) {
        let task = state.withLock { state in
            if let cause { state.operations[id]?.cause = cause }
            return state.operations[id]?.task
        }
        task?.cancel()
    }

    private static func result<Value>(
        of run: () async throws(BackplaneError) -> Value, _ noun: String
    ) async -> Result<Value, BackplaneError> {
        // An engine that does not have to wait does not notice that it was cancelled.
        guard !Task.isCancelled else {
            return .failure(BackplaneError(.callCancelled, "\(noun) was cancelled"))
        }
        do throws(BackplaneError) { return .success(try await run()) } catch { return .failure(error) }
    }

    private func end<Value>(_ id: UInt64, _ result: Result<Value, BackplaneError>) -> Result<Value, BackplaneError> {
        let operation = state.withLock { $0.operations.removeValue(forKey: id) }
        clock.cancel(id)
        guard let cause = operation?.cause, case .failure(let error) = result, error.code == .callCancelled else {
            return result
        }
        return .failure(cause)
    }
}

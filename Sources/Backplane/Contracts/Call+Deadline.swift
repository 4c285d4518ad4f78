import Synchronization

/// Runs an operation, such as a call of a native wire, until the deadline of a call.
///
/// ```swift
/// let found = try await withDeadline(call) { try await wires.library.search(query, call) }
/// ```
///
/// A method that is called natively runs in its caller's task, which the deadline does not end. This function cancels
/// the operation when the deadline of `call` passes, and throws an error without waiting for the operation: one that
/// ignores its cancellation continues, and its result is discarded.
///
/// Without a deadline the operation runs in the caller's task at no extra cost. With a deadline it runs in a separate
/// task, with the caller's priority and task-local values, beside a task that sleeps.
///
/// - Throws: `call.deadline`; otherwise the operation's error, as ``BackplaneError/init(thrown:)`` converts it.
public func withDeadline<Value: Sendable>(
    _ call: Call, _ operation: @escaping @Sendable () async throws -> Value
) async throws(BackplaneError) -> Value {
    guard let timeLeft = call.timeLeft else {
        do { return try await operation() } catch { throw BackplaneError(thrown: error) }
    }
    try call.checkDeadline()
    let first = FirstResult<Value>()
    let work = Task {
        do { first.receive(.success(try await operation())) } catch {
            first.receive(.failure(BackplaneError(thrown: error)))
        }
    }
    let timer = Task {
        do { try await Task.sleep(for: timeLeft) } catch { return }
        first.receive(.failure(.deadlinePassed(before: "the operation ended")))
    }
    defer {
        timer.cancel()
        work.cancel()
    }
    return try await withTaskCancellationHandler {
        await first.wait()
    } onCancel: {
        work.cancel()
    }.get()
}

/// A receiver of several results, which stores the first one.
private final class FirstResult<Value: Sendable>: Sendable {
    private enum State {
        case nothing
        case waiting(UnsafeContinuation<Result<Value, BackplaneError>, Never>)
        case received(Result<Value, BackplaneError>)
        case over
    }
    private let state = Mutex(State.nothing)

    func receive(_ result: Result<Value, BackplaneError>) {
        let waiting = state.withLock { state -> UnsafeContinuation<Result<Value, BackplaneError>, Never>? in
            switch state {
            case .nothing: state = .received(result)
            case .waiting(let continuation):
                state = .over
                return continuation
            case .received, .over: break
            }
            return nil
        }
        waiting?.resume(returning: result)
    }

    /// Returns the first result, waiting for it if necessary.
    ///
    /// It must be called exactly once.
    func wait() async -> Result<Value, BackplaneError> {
        await withUnsafeContinuation { continuation in
            let result = state.withLock { state -> Result<Value, BackplaneError>? in
                if case .received(let result) = state {
                    state = .over
                    return result
                }
                state = .waiting(continuation)
                return nil
            }
            if let result { continuation.resume(returning: result) }
        }
    }
}

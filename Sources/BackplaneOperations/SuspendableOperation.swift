import Synchronization

/// The code of a node that can be suspended while it runs, such as a transfer.
///
/// Any other node that is paused while it runs runs to completion, and its result is held back.
public protocol SuspendableOperation<Output>: Sendable {
    /// The type of the value that the node produces.
    associatedtype Output: Sendable

    /// Does the work. This is called once, while the operation is not paused.
    ///
    /// Cancelling the task ends it, even while it is paused.
    ///
    /// - Parameter status: The status that is passed to the node's handlers.
    func run(_ status: inout NodeStatus) async throws -> Output

    /// Suspends the work, and returns once it is suspended; until then the node is `pausing`.
    func pause() async

    /// Resumes the work.
    func resume() async
}

/// A node whose code can be suspended. Each attempt is a separate operation.
///
/// `@unchecked` as its superclass is: the property that it adds is constant.
final class SuspendableStep<Operation: SuspendableOperation>: TypedStep<Operation.Output>, @unchecked Sendable {
    private let gate: OperationGate<Operation>
    private let isWeightless: Bool

    /// Creates a node.
    ///
    /// - Parameters:
    ///   - isWeightless: Whether the node does not count towards the queue's width.
    ///   - make: A function that makes the operation of an attempt.
    init(
        _ name: String, _ index: Int, _ options: NodeOptions?, isWeightless: Bool,
        _ make: @escaping @Sendable (GraphQueue) async throws -> Operation
    ) {
        let gate = OperationGate<Operation>()
        (self.gate, self.isWeightless) = (gate, isWeightless)
        super.init(name, index, options) { status, queue in
            let operation = try await make(queue)
            await gate.enter(operation, attempt: status.attempt)
            return try await operation.run(&status)
        }
    }

    override var traits: GraphScheduler.Traits {
        super.traits.union(isWeightless ? [.suspends, .isWeightless] : .suspends)
    }

    override nonisolated(nonsending) func notify(_ attempt: UInt16, isPaused: Bool) async {
        if isPaused { await gate.pause(attempt: Int(attempt)) } else { await gate.resume(attempt: Int(attempt)) }
    }
}

/// A gate to the operation of an attempt, which may be paused before the operation exists.
private final class OperationGate<Operation: SuspendableOperation>: Sendable {
    private struct State {
        /// The operation of the latest attempt, once it may run.
        var operation: Operation?
        var latest = 0
        /// The number of the attempt that is paused.
        var paused: Int?
        var entering: UnsafeContinuation<Void, Never>?
    }
    private let state = Mutex(State())

    /// Waits until the attempt of an operation is not paused, or is cancelled.
    func enter(_ operation: Operation, attempt: Int) async {
        state.withLock { state in
            // An attempt that was given up may enter after its successor.
            if attempt > state.latest { (state.latest, state.operation) = (attempt, nil) }
        }
        while !mayRun(operation, attempt) {
            await withTaskCancellationHandler {
                await withUnsafeContinuation { continuation in
                    let (isOpen, former) = state.withLock { state in
                        guard state.paused == attempt, !Task.isCancelled else {
                            return (true, UnsafeContinuation<Void, Never>?.none)
                        }
                        defer { state.entering = continuation }
                        return (false, state.entering.take())
                    }
                    former?.resume()
                    if isOpen { continuation.resume() }
                }
            } onCancel: {
                state.withLock { $0.entering.take() }?.resume()
            }
        }
    }

    /// Returns whether an attempt may run; from then on its operation is paused and resumed.
    private func mayRun(_ operation: Operation, _ attempt: Int) -> Bool {
        state.withLock { state in
            guard state.paused != attempt || Task.isCancelled else { return false }
            if attempt == state.latest { state.operation = operation }
            return true
        }
    }

    func pause(attempt: Int) async {
        let operation = state.withLock { state in
            state.paused = attempt
            return state.operation
        }
        await operation?.pause()
    }

    func resume(attempt: Int) async {
        let (operation, entering) = state.withLock { state in
            state.paused = nil
            return (state.operation, state.entering.take())
        }
        if let entering { return entering.resume() }
        await operation?.resume()
    }
}

/// A graph that is a node of another one; its nodes count towards the queue's width, but the graph itself does not.
struct NestedGraph<Output: Sendable>: SuspendableOperation {
    let run: GraphRun<Output>

    func run(_ status: inout NodeStatus) async throws -> Output {
        try await withTaskCancellationHandler {
            run.begin()
            return try await run.value
        } onCancel: {
            run.cancel()
        }
    }

    func pause() async { run.pause() }

    func resume() async { run.resume() }
}

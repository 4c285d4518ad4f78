import Synchronization

/// The code of a node that can be suspended while it runs, such as a transfer.
///
/// The code of any other paused node runs to completion, and its result is held back.
public protocol SuspendableOperation<Output>: Sendable {
    /// The type of the value that the node produces.
    associatedtype Output: Sendable

    /// Performs the work.
    ///
    /// The function is called once, while the node is not paused. Cancelling the task ends the work, even while it is
    /// paused.
    ///
    /// - Parameter status: The status that is passed to the node's handlers.
    func run(_ status: inout NodeStatus) async throws -> Output

    /// Suspends the work, and returns once it is suspended; until then the node is `pausing`.
    ///
    /// A node that is paused before `run` is called is also resumed before `run` is called.
    func pause() async

    /// Resumes the work.
    func resume() async
}

extension GraphEngine {
    /// Runs the operation of a node's attempt, and passes on one pause after another.
    nonisolated(nonsending) func run<Operation: SuspendableOperation>(
        _ operation: Operation, of node: Int, lendsPlace: Bool, _ status: inout NodeStatus
    ) async throws -> Operation.Output {
        let attempt = UInt16(status.attempt)
        if lendsPlace { change { $0.lend(node, attempt: attempt) } }
        while state.withLock({ $0.scheduler.nodes[node].isHeld(in: attempt) }), await pause(operation, node, attempt) {}
        // This task ends with the attempt, because the end of the attempt resumes its waiting.
        Task.detached {
            while await self.reaches(isHeld: true, node, attempt), await self.pause(operation, node, attempt) {}
        }
        return try await operation.run(&status)
    }

    /// Passes a pause and its end on to an operation, and returns whether its attempt still runs.
    private nonisolated(nonsending) func pause(
        _ operation: some SuspendableOperation, _ node: Int, _ attempt: UInt16
    ) async -> Bool {
        await operation.pause()
        change { $0.suspended(node, attempt: attempt) }
        guard await reaches(isHeld: false, node, attempt) else { return false }
        await operation.resume()
        return true
    }
}

/// A graph that is a node of another one.
struct NestedGraph<Output: Sendable>: SuspendableOperation {
    let run: GraphRun<Output>

    func run(_ status: inout NodeStatus) async throws -> Output {
        try Task.checkCancellation()
        run.engine.queue.start(run.engine)
        return try await run.value
    }

    func pause() async { run.pause() }

    func resume() async { run.resume() }
}

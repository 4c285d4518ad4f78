import Backplane
public import BackplaneNetwork
public import BackplaneOperations
import Synchronization

// Transfers as nodes, which are suspended while they are paused.
extension GraphBuilder {
    /// Adds a node that performs a transfer, and returns its final state.
    ///
    /// ```swift
    /// let text = graph.transfer("text", Transfer("text/whale", .download(request, to: "whale.epub")), on: transfers)
    /// ```
    ///
    /// An identical transfer with the same id is resumed; one that has already succeeded is not repeated. Pausing the
    /// node pauses the transfer, and cancelling the node cancels it. If the transfer is paused elsewhere, the node
    /// waits for it. The node fails with the error of the transfer.
    ///
    /// - Parameters:
    ///   - name: The name, for display.
    ///   - transfer: The download or the upload.
    ///   - transfers: The host's transfers, or those of a program's own pool.
    ///   - options: The priority, the time limit and the retry policy.
    ///   - progress: A function that is called in order with the states; it must not block.
    public mutating func transfer(
        _ name: String, _ transfer: Transfer, on transfers: TransferClient, options: NodeOptions? = nil,
        progress: (@Sendable (TransferState) -> Void)? = nil
    ) -> GraphNode<TransferState> {
        let attempts = TransferAttempts()
        return addQueued(name, options: options) { queue in
            TransferOperation(transfer, on: transfers, for: queue, attempts, progress)
        }
    }

    /// Adds a node that performs a transfer, which a function creates from the node's input.
    public mutating func transfer<Input: GraphInput>(
        _ name: String, after input: Input, on transfers: TransferClient, options: NodeOptions? = nil,
        progress: (@Sendable (TransferState) -> Void)? = nil,
        _ transfer: @escaping @Sendable (Input.Value) throws -> Transfer
    ) -> GraphNode<TransferState> {
        let attempts = TransferAttempts()
        return addQueued(name, after: input, options: options) { value, queue in
            TransferOperation(try transfer(value), on: transfers, for: queue, attempts, progress)
        }
    }
}

/// The number of the last attempt at the transfer of a node.
private final class TransferAttempts: Sendable {
    let last = Mutex(0)
}

/// A transfer as the code of a node.
private final class TransferOperation: SuspendableOperation {
    private let transfer: Transfer
    private let transfers: TransferClient
    private let queue: GraphQueue
    private let progress: (@Sendable (TransferState) -> Void)?
    private let isPaused = Mutex(false)
    private let attempts: TransferAttempts

    init(
        _ transfer: Transfer, on transfers: TransferClient, for queue: GraphQueue, _ attempts: TransferAttempts,
        _ progress: (@Sendable (TransferState) -> Void)?
    ) {
        self.attempts = attempts
        (self.transfer, self.transfers, self.queue, self.progress) = (transfer, transfers, queue, progress)
    }

    func run(_ status: inout NodeStatus) async throws -> TransferState {
        let last: TransferState, attempt = status.attempt
        attempts.last.withLock { $0 = max($0, attempt) }
        do {
            try await transfers.begin(transfer)
            await pauseIfLate()
            last = try await follow()
        } catch {
            if Task.isCancelled { await cancel(attempt) }
            throw error
        }
        status.code = last.status
        guard last.phase == .succeeded else {
            throw last.error ?? BackplaneError(.callCancelled, "the transfer was cancelled", at: transfer.id)
        }
        return last
    }

    private func follow() async throws -> TransferState {
        var last: TransferState?
        for try await state in transfers.states(of: transfer.id) {
            progress?(state)
            last = state
        }
        try Task.checkCancellation()
        guard let last else { throw CancellationError() }
        return last
    }

    /// Pauses the transfer if a pause was requested before it started.
    private func pauseIfLate() async {
        guard isPaused.withLock(\.self) else { return }
        try? await transfers.pause(transfer.id)
        // Or both were asked for in the meantime.
        if !isPaused.withLock(\.self) { try? await transfers.resume(transfer.id) }
    }

    func pause() async {
        isPaused.withLock { $0 = true }
        try? await transfers.pause(transfer.id)
    }

    func resume() async {
        isPaused.withLock { $0 = false }
        try? await transfers.resume(transfer.id)
    }

    /// Cancels the transfer, unless only the waiting component ends: then the host continues the transfer.
    ///
    /// Nor does an attempt that was given up cancel the transfer once the next one has begun.
    private func cancel(_ attempt: Int) async {
        guard !queue.hasEnded, attempts.last.withLock({ $0 == attempt }) else { return }
        let (transfers, id) = (transfers, transfer.id)
        // This task is cancelled already.
        await Task { try? await transfers.cancel(id) }.value
    }
}

public import Backplane
public import BackplaneNetwork
public import BackplaneOperations
import Synchronization

// Loads of endpoints. They are a target of their own, so that a plugin without network links no HTTP for its graphs.
extension GraphBuilder {
    /// Adds a node that loads an endpoint.
    ///
    /// ```swift
    /// let books = graph.load("books", search, on: context.http, call)
    /// ```
    ///
    /// The status that the node's handlers receive includes that of the response. An endpoint has its own retry policy,
    /// which considers whether HTTP allows a request to be repeated; that of the options repeats the whole load.
    ///
    /// - Parameters:
    ///   - name: The name, for display.
    ///   - endpoint: The endpoint.
    ///   - http: The client.
    ///   - call: The call being served, whose deadline applies.
    ///   - options: The priority, the time limit and the retry policy.
    ///   - progress: A function that is called in order with the progress of both bodies; it must not block.
    public mutating func load<Response>(
        _ name: String, _ endpoint: Endpoint<Response>, on http: HTTPClient, _ call: Call,
        options: NodeOptions? = nil, progress: (@Sendable (HTTPProgress) -> Void)? = nil
    ) -> GraphNode<Response> {
        load(name, after: NoInput(), on: http, call, options: options, progress: progress) { _ in endpoint }
    }

    /// Adds a node that loads an endpoint, which a function creates from the node's input.
    ///
    /// ```swift
    /// let covers = graph.load("cover", after: book, on: context.http, call) { book in
    ///     Endpoint<DownloadedFile>("GET", "covers/\(book.id)", to: "cover.png")
    /// }
    /// ```
    public mutating func load<Input: GraphInput, Response>(
        _ name: String, after input: Input, on http: HTTPClient, _ call: Call, options: NodeOptions? = nil,
        progress: (@Sendable (HTTPProgress) -> Void)? = nil,
        _ endpoint: @escaping @Sendable (Input.Value) throws -> Endpoint<Response>
    ) -> GraphNode<Response> {
        add(
            name, after: input, options: options,
            reporting: { value, status in
                try await http.load(try endpoint(value), call, &status, progress)
            })
    }
}

extension HTTPClient {
    /// Loads an endpoint, and records the status of its response.
    fileprivate func load<Response>(
        _ endpoint: Endpoint<Response>, _ call: Call, _ status: inout NodeStatus,
        _ progress: (@Sendable (HTTPProgress) -> Void)?
    ) async throws -> Response {
        let code = Mutex<Int?>(nil), verdict = endpoint.verdict
        var noting = endpoint
        noting.verdict = { value, response in
            code.withLock { $0 = response.status }
            return try verdict?(value, response) ?? .accept
        }
        do {
            let value = try await load(noting, call, progress: progress)
            status.code = code.withLock { $0 }
            return value
        } catch {
            status.code = error.httpStatus ?? code.withLock { $0 }
            throw error
        }
    }
}

// Transfers as nodes, which are suspended while they are paused.
extension GraphBuilder {
    /// Adds a node that performs a transfer, and returns its final state.
    ///
    /// ```swift
    /// let text = graph.transfer("text", Transfer("text/whale", download: url, to: "whale.epub"), on: transfers)
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
        self.transfer(name, after: NoInput(), on: transfers, options: options, progress: progress) { _ in transfer }
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

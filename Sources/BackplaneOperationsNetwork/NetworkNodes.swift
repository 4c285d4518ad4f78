public import Backplane
public import BackplaneNetwork
public import BackplaneOperations
import Synchronization

// Nodes that use the network. They have a target of their own: otherwise a plugin that only uses graphs would link
// nearly twice as much code.
extension GraphBuilder {
    /// Adds a node that loads an endpoint.
    ///
    /// ```swift
    /// let books = graph.load("books", search, on: context.http, call)
    /// ```
    ///
    /// The node's handlers receive a status that includes the status of the response. The endpoint has its own retry
    /// policy, which considers whether HTTP allows a request to be repeated; the policy in `options` repeats the whole
    /// load.
    ///
    /// - Parameters:
    ///   - name: The name, for display.
    ///   - endpoint: The endpoint.
    ///   - http: The client.
    ///   - call: The call being served, whose deadline applies; `nil` in a program.
    ///   - options: The priority, the time limit and the retry policy.
    ///   - progress: A function that is called in order with the progress of both bodies; it must not block.
    public mutating func load<Response>(
        _ name: String, _ endpoint: Endpoint<Response>, on http: HTTPClient, _ call: Call? = nil,
        options: NodeOptions? = nil, progress: (@Sendable (HTTPProgress) -> Void)? = nil
    ) -> GraphNode<Response> {
        load(name, after: DerivedInput.none, on: http, call, options: options, progress: progress) { _ in endpoint }
    }

    /// Adds a node that loads an endpoint, which a function creates from the node's input.
    ///
    /// ```swift
    /// let covers = graph.load("cover", after: book, on: context.http, call) { book in
    ///     Endpoint<DownloadedFile>("GET", "covers/\(book.id)", to: "cover.png")
    /// }
    /// ```
    public mutating func load<Input: GraphInput, Response>(
        _ name: String, after input: Input, on http: HTTPClient, _ call: Call? = nil, options: NodeOptions? = nil,
        progress: (@Sendable (HTTPProgress) -> Void)? = nil,
        _ endpoint: @escaping @Sendable (Input.Value) throws -> Endpoint<Response>
    ) -> GraphNode<Response> {
        add(name, after: input, options: options) { value, status in
            var endpoint = try endpoint(value)
            let code = Mutex<Int?>(nil)
            endpoint.verdict = { [verdict = endpoint.verdict] value, response in
                code.withLock { $0 = response.status }
                return try verdict?(value, response) ?? .accept
            }
            defer { status.code = code.withLock(\.self) }
            do throws(BackplaneError) {
                return try await http.load(endpoint, call ?? Call(), progress: progress)
            } catch {
                if let status = error.httpStatus { code.withLock { $0 = status } }
                throw error
            }
        }
    }

    /// Adds a node that performs a transfer, and returns its final state.
    ///
    /// ```swift
    /// let text = graph.transfer("text", Transfer("text/whale", download: url, to: "whale.epub"), on: transfers)
    /// ```
    ///
    /// An identical transfer with the same id is resumed; if it has already succeeded, it is not repeated. Pausing the
    /// node pauses the transfer, and cancelling the node cancels it. If the transfer is paused elsewhere, the node
    /// waits for it. The node fails with the error of the transfer.
    ///
    /// - Parameters:
    ///   - name: The name, for display.
    ///   - transfer: The download or the upload.
    ///   - transfers: The host's transfers, or the transfers of a program's own pool.
    ///   - options: The priority, the time limit and the retry policy.
    ///   - progress: A function that is called in order with the states; it must not block.
    public mutating func transfer(
        _ name: String, _ transfer: Transfer, on transfers: TransferClient, options: NodeOptions? = nil,
        progress: (@Sendable (TransferState) -> Void)? = nil
    ) -> GraphNode<TransferState> {
        self.transfer(name, after: DerivedInput.none, on: transfers, options: options, progress: progress) { _ in
            transfer
        }
    }

    /// Adds a node that performs a transfer, which a function creates from the node's input.
    public mutating func transfer<Input: GraphInput>(
        _ name: String, after input: Input, on transfers: TransferClient, options: NodeOptions? = nil,
        progress: (@Sendable (TransferState) -> Void)? = nil,
        _ transfer: @escaping @Sendable (Input.Value) throws -> Transfer
    ) -> GraphNode<TransferState> {
        let attempts = Mutex(0)
        return addOperation(name, after: input, options: options) { value, queue in
            let transfer = try transfer(value)
            let attempt = attempts.withLock { count in
                count += 1
                return count
            }
            try await transfers.begin(transfer)
            return TransferOperation(id: transfer.id, transfers: transfers, progress: progress) {
                // If only the waiting component ends, the host continues the transfer. An abandoned attempt does not
                // cancel the transfer either, once the next attempt has begun.
                !queue.hasEnded && attempts.withLock { $0 == attempt }
            }
        }
    }
}

/// A transfer that has begun, as the code of a node.
private struct TransferOperation: SuspendableOperation {
    let id: String
    let transfers: TransferClient
    let progress: (@Sendable (TransferState) -> Void)?
    /// Returns whether the transfer is cancelled with the node.
    let isCancelled: @Sendable () -> Bool

    func run(_ status: inout NodeStatus) async throws -> TransferState {
        var last: TransferState?
        do {
            for try await state in transfers.states(of: id) {
                progress?(state)
                last = state
            }
            try Task.checkCancellation()
        } catch {
            // This task is cancelled already.
            if Task.isCancelled, isCancelled() { await Task { try? await transfers.cancel(id) }.value }
            throw error
        }
        status.code = last?.status
        guard let last, last.phase == .succeeded else {
            throw last?.error ?? BackplaneError(.callCancelled, "the transfer was cancelled", at: id)
        }
        return last
    }

    func pause() async { try? await transfers.pause(id) }

    func resume() async { try? await transfers.resume(id) }
}

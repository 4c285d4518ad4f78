import Backplane
import Synchronization

// Work of other libraries: blocks on their queues, and callbacks.
extension GraphBuilder {
    /// Adds a node whose work is enqueued elsewhere by a function, such as on Foundation's `OperationQueue`.
    ///
    /// ```swift
    /// let index = graph.add("index", after: books, on: operationQueue.addOperation) { books in try index(books) }
    /// let sorted = graph.add("sort", after: books, on: { dispatchQueue.async(execute: $0) }) { $0.sorted() }
    /// ```
    ///
    /// Work that is cancelled before it begins does nothing. If it is dropped without being run, the node fails with
    /// `operation.abandoned`.
    ///
    /// - Parameters:
    ///   - name: The name, for display.
    ///   - input: The input.
    ///   - options: The priority, the time limit and the retry policy.
    ///   - enqueue: A function that runs the given closure, now or later.
    ///   - work: The work, which may block.
    public mutating func add<Input: GraphInput, Output: Sendable>(
        _ name: String, after input: Input, options: NodeOptions? = nil,
        on enqueue: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        _ work: @escaping @Sendable (Input.Value) throws -> Output
    ) -> GraphNode<Output> {
        addCallback(name, after: input, options: options) { value, callback in
            enqueue {
                guard callback.isAwaited else { return }
                do { callback.succeed(try work(value)) } catch { callback.fail(error) }
            }
        }
    }

    /// Adds a node without input whose work is enqueued elsewhere by a function.
    public mutating func add<Output: Sendable>(
        _ name: String, options: NodeOptions? = nil,
        on enqueue: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        _ work: @escaping @Sendable () throws -> Output
    ) -> GraphNode<Output> {
        add(name, after: NoInput(), options: options, on: enqueue) { _ in try work() }
    }

    /// Adds a node whose end is reported by a callback.
    ///
    /// ```swift
    /// let saved = graph.addCallback("save", after: book) { book, callback in
    ///     let task = library.save(book) { error in
    ///         if let error { callback.fail(error) } else { callback.succeed(()) }
    ///     }
    ///     callback.onCancel { task.cancel() }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name, for display.
    ///   - input: The input.
    ///   - options: The priority, the time limit and the retry policy.
    ///   - begin: A function that starts the work.
    public mutating func addCallback<Input: GraphInput, Output: Sendable>(
        _ name: String, after input: Input, options: NodeOptions? = nil,
        _ begin: @escaping @Sendable (Input.Value, NodeCallback<Output>) throws -> Void
    ) -> GraphNode<Output> {
        add(name, after: input, options: options) { value in
            let callback = NodeCallback<Output>(name)
            let waiting = callback.waiting
            do {
                try begin(value, consume callback)
            } catch {
                waiting.end(.failure(error))
            }
            return try await waiting.value
        }
    }

    /// Adds a node whose end is reported by a callback.
    public mutating func addCallback<Output: Sendable>(
        _ name: String, options: NodeOptions? = nil,
        _ begin: @escaping @Sendable (NodeCallback<Output>) throws -> Void
    ) -> GraphNode<Output> {
        addCallback(name, after: NoInput(), options: options) { _, callback in try begin(callback) }
    }
}

/// The callback with which another library's work reports its end; only the first report counts.
///
/// If it is released without a report, the node fails with `operation.abandoned`.
public final class NodeCallback<Output: Sendable>: Sendable {
    let waiting = CallbackWaiting<Output>()
    private let name: String

    init(_ name: String) { self.name = name }

    deinit {
        waiting.end(
            .failure(
                BackplaneError(.operationAbandoned, "the callback of `\(name)` was released without being called")))
    }

    /// A Boolean value that indicates whether a report would still have an effect.
    public var isAwaited: Bool { waiting.isAwaited }

    /// Reports that the work has succeeded.
    public func succeed(_ value: Output) { waiting.end(.success(value)) }

    /// Reports that the work has failed.
    public func fail(_ error: any Error) { waiting.end(.failure(error)) }

    /// Sets the function that cancels the work; it is called immediately if the node is already cancelled.
    public func onCancel(_ cancel: @escaping @Sendable () -> Void) { waiting.cancels(cancel) }
}

/// The node's side of a callback.
final class CallbackWaiting<Output: Sendable>: Sendable {
    private typealias Cancel = @Sendable () -> Void
    private struct State {
        var result: Result<Output, any Error>?
        var waiting: UnsafeContinuation<Output, any Error>?
        var cancel: Cancel?
        var isCancelled = false
    }
    private let state = Mutex(State())

    var isAwaited: Bool { state.withLock { $0.result == nil && !$0.isCancelled } }

    /// Stores the function that cancels the work, and calls it if cancellation has been requested in the meantime.
    func cancels(_ cancel: @escaping @Sendable () -> Void) {
        let (isCancelled, former) = state.withLock { state in
            let former = state.result == nil ? state.cancel : nil
            if state.result == nil { state.cancel = cancel }
            return (state.isCancelled, former)
        }
        withExtendedLifetime(former) {}  // what it captured may report, which takes the lock
        if isCancelled { cancel() }
    }

    func end(_ result: Result<Output, any Error>) {
        let (waiting, cancel) = state.withLock { state in
            guard state.result == nil else { return (UnsafeContinuation<Output, any Error>?.none, Cancel?.none) }
            state.result = result
            return (state.waiting.take(), state.cancel.take())
        }
        withExtendedLifetime(cancel) {}  // what it captured may report, which takes the lock
        waiting?.resume(with: result)
    }

    /// The value, once it has been reported; cancelling the task cancels the work, but still waits for its report.
    var value: Output {
        get async throws {
            try await withTaskCancellationHandler {
                try await withUnsafeThrowingContinuation { continuation in
                    let result = state.withLock { state in
                        if state.result == nil { state.waiting = continuation }
                        return state.result
                    }
                    if let result { continuation.resume(with: result) }
                }
            } onCancel: {
                let cancel = state.withLock { state in
                    state.isCancelled = true
                    return state.cancel.take()
                }
                cancel?()
            }
        }
    }
}

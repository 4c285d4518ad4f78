// Whole graphs, and work that can be suspended.
extension GraphBuilder {
    /// Adds a node that runs another graph, whose result becomes its own.
    ///
    /// ```swift
    /// let pages = graph.addGraph("pages", after: first) { first in try Self.pages(first.count) }
    /// ```
    ///
    /// The graph is built when the node starts, so that its shape may depend on the value that the node receives. Its
    /// nodes count towards the width of the same queue, but this node does not. Pausing and cancelling the node pauses
    /// and cancels the graph.
    ///
    /// - Parameters:
    ///   - name: The name, for display.
    ///   - input: The input.
    ///   - options: The priority, the time limit and the retry policy; each attempt builds a graph.
    ///   - graph: A function that builds the graph.
    public mutating func addGraph<Input: GraphInput, Output: Sendable>(
        _ name: String, after input: Input, options: NodeOptions? = nil,
        _ graph: @escaping @Sendable (Input.Value) async throws -> OperationGraph<Output>
    ) -> GraphNode<Output> {
        insert(
            SuspendableStep<NestedGraph<Output>>(name, store.steps.count, options, isWeightless: true) { queue in
                NestedGraph(run: queue.prepare(try await graph(try await input.receive()), isPart: true))
            }, after: input)
    }

    /// Adds a node that runs another graph, whose result becomes its own.
    public mutating func addGraph<Output: Sendable>(
        _ name: String, options: NodeOptions? = nil,
        _ graph: @escaping @Sendable () async throws -> OperationGraph<Output>
    ) -> GraphNode<Output> {
        addGraph(name, after: NoInput(), options: options) { _ in try await graph() }
    }

    /// Adds a node whose work is suspended while the node is paused.
    ///
    /// - Parameters:
    ///   - name: The name, for display.
    ///   - input: The input.
    ///   - options: The priority, the time limit and the retry policy.
    ///   - operation: A function that creates the operation for an attempt.
    public mutating func addSuspendable<Input: GraphInput, Operation: SuspendableOperation>(
        _ name: String, after input: Input, options: NodeOptions? = nil,
        _ operation: @escaping @Sendable (Input.Value) async throws -> Operation
    ) -> GraphNode<Operation.Output> {
        insert(
            SuspendableStep<Operation>(name, store.steps.count, options, isWeightless: false) { _ in
                try await operation(try await input.receive())
            }, after: input)
    }

    /// Adds a node whose work is suspended while the node is paused, with access to its queue.
    package mutating func addQueued<Input: GraphInput, Operation: SuspendableOperation>(
        _ name: String, after input: Input, options: NodeOptions?,
        _ operation: @escaping @Sendable (Input.Value, GraphQueue) async throws -> Operation
    ) -> GraphNode<Operation.Output> {
        insert(
            SuspendableStep<Operation>(name, store.steps.count, options, isWeightless: false) { queue in
                try await operation(try await input.receive(), queue)
            }, after: input)
    }

    /// Adds a node whose work is suspended while the node is paused, with access to its queue.
    package mutating func addQueued<Operation: SuspendableOperation>(
        _ name: String, options: NodeOptions?,
        _ operation: @escaping @Sendable (GraphQueue) async throws -> Operation
    ) -> GraphNode<Operation.Output> {
        addQueued(name, after: NoInput(), options: options) { _, queue in try await operation(queue) }
    }

    /// Adds a node whose work is suspended while the node is paused.
    public mutating func addSuspendable<Operation: SuspendableOperation>(
        _ name: String, options: NodeOptions? = nil,
        _ operation: @escaping @Sendable () async throws -> Operation
    ) -> GraphNode<Operation.Output> {
        addSuspendable(name, after: NoInput(), options: options) { _ in try await operation() }
    }
}

public import Backplane

/// The description of a graph of work, to which nodes and edges are added.
///
/// ```swift
/// var graph = GraphBuilder("shelf")
/// let books = graph.add("books") { try await http.load(books, call) }
/// let authors = graph.add("authors") { try await http.load(authors, call) }
/// let stored = graph.add("store", after: books, authors) { books, authors in
///     try await store(books, authors)
/// }
/// let run = try graph.build(returning: stored).start()
/// ```
///
/// A node is added with its inputs, usually other nodes, and its code receives their values. Nodes that do not depend
/// on each other run concurrently. Adding a node does not start it.
public struct GraphBuilder: ~Copyable {
    /// The name of the graph, for display.
    public let name: String
    let store = StepStore()
    var edges: GraphEdges

    /// Creates a graph without nodes.
    public init(_ name: String) {
        self.name = name
        edges = GraphEdges(of: store)
    }

    // MARK: Nodes

    /// Adds a node without inputs.
    ///
    /// - Parameters:
    ///   - name: The name, for display.
    ///   - options: The priority, the time limit and the retry policy.
    ///   - body: The work, which runs in a task that is cancelled with the node.
    public mutating func add<Output: Sendable>(
        _ name: String, options: NodeOptions? = nil, _ body: @escaping @Sendable () async throws -> Output
    ) -> GraphNode<Output> {
        insert(TypedStep(name, store.steps.count, options) { _, _ in try await body() }, after: NoInput())
    }

    /// Adds a node that receives a value.
    ///
    /// - Parameters:
    ///   - name: The name, for display.
    ///   - input: The input: a node, or a combination of nodes created by ``GraphNode/always``,
    ///     ``GraphNode/recover(_:)`` and ``GraphInput/and(_:)``.
    ///   - options: The priority, the time limit and the retry policy.
    ///   - body: The work, which runs in a task that is cancelled with the node.
    public mutating func add<Input: GraphInput, Output: Sendable>(
        _ name: String, after input: Input, options: NodeOptions? = nil,
        _ body: @escaping @Sendable (Input.Value) async throws -> Output
    ) -> GraphNode<Output> {
        insert(
            TypedStep(name, store.steps.count, options) { _, _ in try await body(try await input.receive()) },
            after: input)
    }

    /// Adds a node that receives two values.
    public mutating func add<First: GraphInput, Second: GraphInput, Output: Sendable>(
        _ name: String, after first: First, _ second: Second, options: NodeOptions? = nil,
        _ body: @escaping @Sendable (First.Value, Second.Value) async throws -> Output
    ) -> GraphNode<Output> {
        insert(
            TypedStep(name, store.steps.count, options) { _, _ in
                try await body(try await first.receive(), try await second.receive())
            }, after: first.and(second))
    }

    /// Adds a node that receives three values.
    public mutating func add<First: GraphInput, Second: GraphInput, Third: GraphInput, Output: Sendable>(
        _ name: String, after first: First, _ second: Second, _ third: Third, options: NodeOptions? = nil,
        _ body: @escaping @Sendable (First.Value, Second.Value, Third.Value) async throws -> Output
    ) -> GraphNode<Output> {
        insert(
            TypedStep(name, store.steps.count, options) { _, _ in
                try await body(try await first.receive(), try await second.receive(), try await third.receive())
            }, after: first.and(second).and(third))
    }

    /// Adds a node that receives the values of any number of nodes, in order.
    public mutating func add<Input: GraphInput, Output: Sendable>(
        _ name: String, afterAll inputs: [Input], options: NodeOptions? = nil,
        _ body: @escaping @Sendable ([Input.Value]) async throws -> Output
    ) -> GraphNode<Output> {
        add(name, after: EveryInput(inputs: inputs), options: options, body)
    }

    /// Adds a node whose code reports a status.
    package mutating func add<Input: GraphInput, Output: Sendable>(
        _ name: String, after input: Input, options: NodeOptions?,
        reporting body: @escaping @Sendable (Input.Value, inout NodeStatus) async throws -> Output
    ) -> GraphNode<Output> {
        insert(
            TypedStep(name, store.steps.count, options) { status, _ in
                try await body(try await input.receive(), &status)
            }, after: input)
    }

    // MARK: Edges and handlers

    /// Makes a node wait for other nodes without receiving their values.
    ///
    /// ```swift
    /// graph.order(upload, after: signIn)
    /// graph.order(cleanUp, after: upload.always)
    /// ```
    ///
    /// Only this function can create a cycle, which is an error when the graph is built.
    public mutating func order<Output>(_ node: GraphNode<Output>, after input: some GraphInput) {
        edges.connect(input, to: node.step)
    }

    /// Adds a function that is called with a node's value and its status before its dependents start.
    ///
    /// Functions are called in the order in which they were added. They must not block.
    public mutating func onSuccess<Output>(
        of node: GraphNode<Output>, _ handler: @escaping @Sendable (_ value: Output, _ status: NodeStatus) -> Void
    ) {
        let handlers = handlers(of: node), earlier = handlers.onSuccess
        handlers.onSuccess = { value, status in
            earlier?(value, status)
            handler(value, status)
        }
    }

    /// Adds a function that is called with a node's error and its status before its dependents start.
    ///
    /// It is called once, for a node that has permanently failed, was not run because of another node, or was
    /// cancelled. Functions are called in the order in which they were added. They must not block.
    public mutating func onFailure<Output>(
        of node: GraphNode<Output>,
        _ handler: @escaping @Sendable (_ error: BackplaneError, _ status: NodeStatus) -> Void
    ) {
        let handlers = handlers(of: node), earlier = handlers.onFailure
        handlers.onFailure = { error, status in
            earlier?(error, status)
            handler(error, status)
        }
    }

    private mutating func handlers<Output>(of node: GraphNode<Output>) -> TypedStep<Output>.Handlers {
        // Handlers of a node of another graph are never called, and building the graph fails.
        guard edges.requireOwn(node.step) else { return TypedStep<Output>.Handlers() }
        if let handlers = node.step.handlers { return handlers }
        let handlers = TypedStep<Output>.Handlers()
        node.step.handlers = handlers
        return handlers
    }

    mutating func insert<Output>(_ step: TypedStep<Output>, after input: some GraphInput) -> GraphNode<Output> {
        store.add(step)
        edges.connect(input, to: step)
        return GraphNode(step: step)
    }
}

// Calls through wires.
extension GraphBuilder {
    /// Adds a node that calls a method of a wire or a manager with a given value.
    ///
    /// ```swift
    /// let found = graph.call("search", wires.books.search, "whale", call)
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name, for display.
    ///   - method: The method, taken from a `Wire` or a `Remote`.
    ///   - input: The method's argument.
    ///   - call: The call being served, or a new one; its deadline applies.
    ///   - options: The priority, the time limit and the retry policy.
    public mutating func call<Argument, Output, Frame>(
        _ name: String, _ method: BoundAsync<Argument, Output, Frame>, _ input: Argument, _ call: Call,
        options: NodeOptions? = nil
    ) -> GraphNode<Output> {
        add(name, options: options) { try await method(input, call) }
    }

    /// Adds a node that calls a method of a wire or a manager with the value that it receives.
    ///
    /// ```swift
    /// let stored = graph.call("store", wires.dataAccessController.store, with: books, call)
    /// ```
    public mutating func call<Input: GraphInput, Output, Frame>(
        _ name: String, _ method: BoundAsync<Input.Value, Output, Frame>, with input: Input, _ call: Call,
        options: NodeOptions? = nil
    ) -> GraphNode<Output> {
        add(name, after: input, options: options) { value in try await method(value, call) }
    }

    /// Adds a node that calls a synchronous method of a wire or a manager with a given value.
    public mutating func call<Argument, Output, Frame>(
        _ name: String, _ method: BoundSync<Argument, Output, Frame>, _ input: Argument, _ call: Call,
        options: NodeOptions? = nil
    ) -> GraphNode<Output> {
        add(name, options: options) { try method(input, call) }
    }

    /// Adds a node that calls a synchronous method of a wire or a manager with the value that it receives.
    public mutating func call<Input: GraphInput, Output, Frame>(
        _ name: String, _ method: BoundSync<Input.Value, Output, Frame>, with input: Input, _ call: Call,
        options: NodeOptions? = nil
    ) -> GraphNode<Output> {
        add(name, after: input, options: options) { value in try method(value, call) }
    }
}

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
                NestedGraph(run: queue.prepare(try await graph(try await input.receive())))
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
        addQueued(name, after: input, options: options) { value, _ in try await operation(value) }
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

    /// Adds a node whose work is suspended while the node is paused.
    public mutating func addSuspendable<Operation: SuspendableOperation>(
        _ name: String, options: NodeOptions? = nil,
        _ operation: @escaping @Sendable () async throws -> Operation
    ) -> GraphNode<Operation.Output> {
        addSuspendable(name, after: NoInput(), options: options) { _ in try await operation() }
    }
}

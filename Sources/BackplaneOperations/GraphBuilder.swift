public import Backplane
import Synchronization

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
    private let store = StepStore()
    private var edges: [GraphShape.Edge] = []
    /// A Boolean value that indicates whether an edge comes from a node that was added after its target.
    private var mayHaveCycle = false
    /// The name of a node of another graph that was used in this one.
    private var stranger: String?

    /// Creates a graph without nodes.
    public init(_ name: String) { self.name = name }

    // MARK: Nodes

    /// Adds a node without inputs.
    public mutating func add<Output: Sendable>(
        _ name: String, options: NodeOptions? = nil, _ body: @escaping @Sendable () async throws -> Output
    ) -> GraphNode<Output> {
        insert(TypedStep(name, store.steps.count, options) { _, _ in try await body() }, after: DerivedInput.none)
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
        // Not by `and`, which would cost each node a closure and a list.
        let step = TypedStep(name, store.steps.count, options) { _, _ in
            try await body(try await first.receive(), try await second.receive())
        }
        return insert(step, after: first.and(second))
    }

    /// Adds a node that receives three values.
    public mutating func add<First: GraphInput, Second: GraphInput, Third: GraphInput, Output: Sendable>(
        _ name: String, after first: First, _ second: Second, _ third: Third, options: NodeOptions? = nil,
        _ body: @escaping @Sendable (First.Value, Second.Value, Third.Value) async throws -> Output
    ) -> GraphNode<Output> {
        add(name, after: first.and(second).and(third), options: options) { try await body($0.0.0, $0.0.1, $0.1) }
    }

    /// Adds a node that receives the values of any number of nodes, in order.
    public mutating func add<Input: GraphInput, Output: Sendable>(
        _ name: String, afterAll inputs: [Input], options: NodeOptions? = nil,
        _ body: @escaping @Sendable ([Input.Value]) async throws -> Output
    ) -> GraphNode<Output> {
        let all = DerivedInput(edges: inputs.flatMap(\.edges)) {
            var values: [Input.Value] = []
            values.reserveCapacity(inputs.count)
            for input in inputs { values.append(try await input.receive()) }
            return values
        }
        return add(name, after: all, options: options, body)
    }

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
    ///   - enqueue: A function that runs the given closure, now or later.
    ///   - work: The work, which may block.
    public mutating func add<Input: GraphInput, Output: Sendable>(
        _ name: String, after input: Input = DerivedInput.none, options: NodeOptions? = nil,
        on enqueue: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        _ work: @escaping @Sendable (Input.Value) throws -> Output
    ) -> GraphNode<Output> {
        add(name, after: input, options: options) { value in
            let isCancelled = Atomic(false)
            return try await withTaskCancellationHandler {
                try await withUnsafeThrowingContinuation { node in
                    let block = EnqueuedBlock(name, node)
                    enqueue { if !isCancelled.load(ordering: .relaxed) { block.end(Result { try work(value) }) } }
                }
            } onCancel: {
                isCancelled.store(true, ordering: .relaxed)
            }
        }
    }

    /// Adds a node whose code reports a status.
    package mutating func add<Input: GraphInput, Output: Sendable>(
        _ name: String, after input: Input, options: NodeOptions?,
        _ body: @escaping @Sendable (Input.Value, inout NodeStatus) async throws -> Output
    ) -> GraphNode<Output> {
        insert(
            TypedStep(name, store.steps.count, options) { status, _ in
                try await body(try await input.receive(), &status)
            }, after: input)
    }

    /// Adds a node that runs another graph, whose result becomes its own.
    ///
    /// ```swift
    /// let pages = graph.addGraph("pages", after: first) { first in try Self.pages(first.count) }
    /// ```
    ///
    /// The graph is built when the node starts, so its shape may depend on the value that the node receives. The graph
    /// runs in the same queue, and its nodes use the place of this node. Pausing and cancelling the node pauses and
    /// cancels the graph.
    ///
    /// - Parameter graph: A function that builds the graph for each attempt.
    public mutating func addGraph<Input: GraphInput, Output: Sendable>(
        _ name: String, after input: Input = DerivedInput.none, options: NodeOptions? = nil,
        _ graph: @escaping @Sendable (Input.Value) async throws -> OperationGraph<Output>
    ) -> GraphNode<Output> {
        addOperation(name, after: input, options: options, lendsPlace: true) { value, queue in
            NestedGraph(run: queue.prepare(try await graph(value)))
        }
    }

    /// Adds a node whose work is suspended while the node is paused.
    ///
    /// - Parameter operation: A function that creates the operation for an attempt.
    public mutating func addSuspendable<Input: GraphInput, Operation: SuspendableOperation>(
        _ name: String, after input: Input = DerivedInput.none, options: NodeOptions? = nil,
        _ operation: @escaping @Sendable (Input.Value) async throws -> Operation
    ) -> GraphNode<Operation.Output> {
        addOperation(name, after: input, options: options) { value, _ in try await operation(value) }
    }

    /// Adds a node whose work is suspended while the node is paused, with access to its queue.
    package mutating func addOperation<Input: GraphInput, Operation: SuspendableOperation>(
        _ name: String, after input: Input, options: NodeOptions?, lendsPlace: Bool = false,
        _ operation: @escaping @Sendable (Input.Value, GraphQueue) async throws -> Operation
    ) -> GraphNode<Operation.Output> {
        let index = store.steps.count
        let step = TypedStep<Operation.Output>(name, index, options) { status, engine in
            let operation = try await operation(try await input.receive(), engine.queue)
            return try await engine.run(operation, of: index, lendsPlace: lendsPlace, &status)
        }
        return insert(step, after: input)
    }

    private mutating func insert<Output>(_ step: TypedStep<Output>, after input: some GraphInput) -> GraphNode<Output> {
        store.add(step)
        connect(step, input.edges)
        return GraphNode(step: step)
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
        connect(node.step, input.edges)
    }

    private mutating func connect(_ step: GraphStep, _ added: [GraphEdge]) {
        guard requireOwn(step) else { return }
        for edge in added where requireOwn(edge.step) {
            if edge.step.index >= step.index { mayHaveCycle = true }
            edges.append(GraphShape.Edge(from: edge.step.index, to: step.index, kind: edge.kind))
        }
    }

    /// Returns whether a node belongs to this graph, and records a node that does not.
    private mutating func requireOwn(_ step: GraphStep) -> Bool {
        if store.contains(step) { return true }
        stranger = stranger ?? step.name
        return false
    }

    /// Adds a function that is called with a node's value and its status before its dependents start.
    ///
    /// Functions are called in the order in which they were added. They must not block.
    public mutating func onSuccess<Output>(
        of node: GraphNode<Output>, _ handler: @escaping @Sendable (_ value: Output, _ status: NodeStatus) -> Void
    ) {
        guard requireOwn(node.step) else { return }
        node.step.handlers.append { if case .success(let value) = $0 { handler(value, $1) } }
    }

    /// Adds a function that is called with a node's error and its status before its dependents start.
    ///
    /// The function is called once, for a node that has permanently failed, was not run because of another node, or was
    /// cancelled. Functions are called in the order in which they were added. They must not block.
    public mutating func onFailure<Output>(
        of node: GraphNode<Output>,
        _ handler: @escaping @Sendable (_ error: BackplaneError, _ status: NodeStatus) -> Void
    ) {
        guard requireOwn(node.step) else { return }
        node.step.handlers.append { if case .failure(let error) = $0 { handler(error, $1) } }
    }

    // MARK: Building

    /// Completes the graph, whose result is the value of a node.
    ///
    /// - Throws: `operation.cycle` if nodes wait for each other; `operation.refused` if a node of another graph was
    ///   used.
    public consuming func build<Output>(
        returning result: GraphNode<Output>
    ) throws(BackplaneError) -> OperationGraph<Output> {
        if let stranger = stranger ?? (store.contains(result.step) ? nil : result.name) {
            throw BackplaneError(
                .operationRefused,
                "`\(stranger)` is a node of another graph; await it there, or run that graph as a node of this one",
                at: name)
        }
        let shape = GraphShape(store.steps.count, edges)
        if mayHaveCycle, let cycle = shape.cycle() {
            let names = cycle.map { "`\(store.steps[$0].name)`" }
            let shown = names.count > 10 ? names.prefix(5) + ["…"] + names.suffix(4) : names[...]
            throw BackplaneError(
                .operationCycle,
                "\(names.count) nodes wait for each other, so none of them can begin: "
                    + (shown + [names[0]]).joined(separator: " → "), at: name)
        }
        return OperationGraph(name: name, store: store, shape: shape, result: result)
    }

    /// Completes the graph, which succeeds if every node without dependents succeeds.
    ///
    /// The result is the value of an additional node, `end`, which waits for these nodes.
    ///
    /// - Throws: The errors of ``build(returning:)``.
    public consuming func build() throws(BackplaneError) -> OperationGraph<Void> {
        var hasDependents = Array(repeating: false, count: store.steps.count)
        for edge in edges { hasDependents[Int(edge.from)] = true }
        let last = store.steps.filter { !hasDependents[Int($0.index)] }
        let end = add("end", after: DerivedInput(edges: last.map { GraphEdge(step: $0, kind: .plain) }) {}) {}
        return try build(returning: end)
    }
}

/// A block that another library runs, or drops.
private final class EnqueuedBlock<Output: Sendable>: Sendable {
    private let name: String
    private let node: Mutex<UnsafeContinuation<Output, any Error>?>

    init(_ name: String, _ node: UnsafeContinuation<Output, any Error>) {
        self.name = name
        self.node = Mutex(node)
    }

    deinit {
        end(.failure(BackplaneError(.operationAbandoned, "the block of `\(name)` was dropped without being run")))
    }

    func end(_ result: Result<Output, any Error>) { node.withLock { $0.take() }?.resume(with: result) }
}

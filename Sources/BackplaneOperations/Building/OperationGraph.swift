public import Backplane

/// A complete graph of work, without cycles, that can be started once.
///
/// A ``GraphBuilder`` builds it. The compiler ensures that it is started only once and that nothing is added to it
/// afterwards.
public struct OperationGraph<Output: Sendable>: ~Copyable, Sendable {
    /// The name, for display.
    public let name: String
    let store: StepStore
    let shape: GraphShape
    /// A topological order of the nodes; `nil` if their numbers are already in topological order.
    let order: [Int]?
    let result: GraphNode<Output>

    /// The number of nodes.
    public var count: Int { store.steps.count }

    /// Starts the graph in its own queue.
    ///
    /// - Parameter width: The maximum number of nodes that run concurrently; at least 1.
    public consuming func start(width: Int = GraphQueue.defaultWidth) -> GraphRun<Output> {
        GraphQueue(width: width).start(self)
    }

    /// Returns the scheduler of a run.
    func scheduler() -> GraphScheduler {
        let steps = store.steps, priorities = inheritedPriorities()
        return GraphScheduler(shape) { node in
            (steps[node].traits, priorities?[node] ?? .normal)
        }
    }

    /// Returns the priorities of all nodes, including inherited ones; `nil` if all are normal.
    ///
    /// A node without an explicit priority has normal priority, and passes on only the priority that it inherits.
    private func inheritedPriorities() -> [NodePriority]? {
        guard store.steps.contains(where: { $0.options?.priority != nil }) else { return nil }
        var inherited: [NodePriority?] = store.steps.map(\.options?.priority)
        for place in (0..<count).reversed() {
            let node = order?[place] ?? place
            guard let priority = inherited[node] else { continue }
            for need in shape.needs[of: node] {
                // A node without a priority of its own is normal, and inherits no lower one.
                inherited[need.node] = inherited[need.node].map { max($0, priority) } ?? max(.normal, priority)
            }
        }
        return inherited.map { $0 ?? .normal }
    }
}

extension GraphBuilder {
    /// Completes the graph, whose result is the value of a node.
    ///
    /// - Throws: `operation.cycle` if nodes wait for each other; `operation.refused` if a node of another graph was
    ///   used, or there are more than 1,073,741,824 nodes.
    public consuming func build<Output>(
        returning result: GraphNode<Output>
    ) throws(BackplaneError) -> OperationGraph<Output> {
        guard store.contains(result.step) else { throw Self.stranger(result.name, in: name) }
        if let stranger = edges.stranger { throw Self.stranger(stranger, in: name) }
        guard store.steps.count <= GraphShape.limit, edges.list.count <= Int(Int32.max) else {
            throw BackplaneError(
                .operationRefused,
                "expected at most \(GraphShape.limit) nodes and \(Int32.max) edges, found \(store.steps.count) and "
                    + "\(edges.list.count)", at: name)
        }
        let shape = GraphShape(store.steps.count, edges.list)
        var order: [Int]?
        if edges.mayHaveCycle {
            if let cycle = shape.cycle() { throw Self.cyclic(cycle.map { store.steps[$0].name }, in: name) }
            order = shape.order()
        }
        return OperationGraph(name: name, store: store, shape: shape, order: order, result: result)
    }

    /// Completes the graph, which succeeds if every node without dependents succeeds.
    ///
    /// The result is that of an additional node, `end`, which waits for them.
    ///
    /// - Throws: The errors of ``build(returning:)``.
    public consuming func build() throws(BackplaneError) -> OperationGraph<Void> {
        var hasDependents = Array(repeating: false, count: store.steps.count)
        for edge in edges.list { hasDependents[Int(edge.from)] = true }
        let steps = store.steps
        let end = add("end") {}
        order(end, after: EverySuccess(steps: steps.filter { !hasDependents[Int($0.index)] }))
        return try build(returning: end)
    }

    private static func stranger(_ node: String, in graph: String) -> BackplaneError {
        BackplaneError(
            .operationRefused,
            "`\(node)` is a node of another graph; await it there, or run that graph as a node of this one", at: graph)
    }

    private static func cyclic(_ names: [String], in graph: String) -> BackplaneError {
        let shown = names.count > 10 ? names.prefix(5) + ["…"] + names.suffix(4) : names[...]
        let way = (shown + [names[0]]).map { $0 == "…" ? $0 : "`\($0)`" }.joined(separator: " → ")
        return BackplaneError(
            .operationCycle, "\(names.count) nodes wait for each other, so none of them can begin: \(way)",
            at: graph)
    }
}

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
        let steps = store.steps
        return GraphScheduler(shape) { (steps[$0].traits, steps[$0].options?.priority ?? .normal) }
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
        if edges.mayHaveCycle, let cycle = shape.cycle() {
            throw Self.cyclic(cycle.map { store.steps[$0].name }, in: name)
        }
        return OperationGraph(name: name, store: store, shape: shape, result: result)
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

/// The effect of a node's outcome on a dependent.
enum EdgeKind: UInt32, Sendable, CaseIterable {
    /// The dependent requires success.
    case plain
    /// The dependent runs after any outcome.
    case always
    /// The dependent runs after any outcome, and replaces a missing value.
    case recover
}

/// The edges of a graph while it is built.
public struct GraphEdges: Sendable {
    /// An edge from a node to its dependent.
    struct Edge: Sendable {
        var from: Int32
        var to: Int32
        var kind: EdgeKind
    }
    private(set) var list: [Edge] = []
    /// The node whose edges are being added.
    private var target: Int32 = 0
    /// A Boolean value that indicates whether an edge comes from a node that was added after its target.
    private(set) var mayHaveCycle = false
    /// The name of a node of another graph that was used as an input.
    private(set) var stranger: String?
    private let store: StepStore

    init(of store: StepStore) { self.store = store }

    /// Adds the edges of an input.
    mutating func connect(_ input: some GraphInput, to step: GraphStep) {
        guard requireOwn(step) else { return }
        target = step.index
        input.addEdges(to: &self)
    }

    /// Returns whether a node belongs to this graph, and records it if it does not.
    mutating func requireOwn(_ step: GraphStep) -> Bool {
        if store.contains(step) { return true }
        stranger = stranger ?? step.name
        return false
    }

    /// Adds an edge from a node to the target.
    mutating func add(_ step: GraphStep, _ kind: EdgeKind) {
        guard requireOwn(step) else { return }
        if step.index >= target { mayHaveCycle = true }
        list.append(Edge(from: step.index, to: target, kind: kind))
    }
}

/// The edges of a graph in two tables: each node's outgoing edges, and its incoming edges.
struct GraphShape: Sendable {
    /// The maximum number of nodes: the end of an edge has 30 bits, and its kind two.
    static let limit = 1 << 30

    /// The other end of an edge.
    struct End: Sendable {
        private let bits: UInt32
        init(_ node: Int32, _ kind: EdgeKind) { bits = UInt32(node) << 2 | kind.rawValue }
        var node: Int { Int(bits >> 2) }
        var kind: EdgeKind { EdgeKind(rawValue: bits & 3) ?? .plain }
    }

    /// The ends of the edges of every node, one node after another.
    struct EdgeTable: Sendable {
        private var starts: [Int32]
        private var ends: [End]

        init(_ count: Int, _ edges: [GraphEdges.Edge], _ side: (GraphEdges.Edge) -> (node: Int32, end: End)) {
            starts = Array(repeating: 0, count: count + 1)
            for edge in edges { starts[Int(side(edge).node) + 1] += 1 }
            for node in 0..<count { starts[node + 1] += starts[node] }
            var next = starts
            ends = Array(repeating: End(0, .plain), count: edges.count)
            for edge in edges {
                let (node, end) = side(edge)
                ends[Int(next[Int(node)])] = end
                next[Int(node)] += 1
            }
        }

        /// The indices of a node's edges.
        func range(of node: Int) -> Range<Int> { Int(starts[node])..<Int(starts[node + 1]) }
        subscript(place: Int) -> End { ends[place] }
        subscript(of node: Int) -> ArraySlice<End> { ends[range(of: node)] }
    }

    let count: Int
    /// The edges from each node to its dependents.
    let dependents: EdgeTable
    /// The edges to each node from its inputs.
    let needs: EdgeTable

    init(_ count: Int, _ edges: [GraphEdges.Edge]) {
        self.count = count
        dependents = EdgeTable(count, edges) { ($0.from, End($0.to, $0.kind)) }
        needs = EdgeTable(count, edges) { ($0.to, End($0.from, $0.kind)) }
    }

    /// Returns a cycle, each node after one of its inputs, or `nil`.
    func cycle() -> [Int]? {
        // In topological order, as far as there is one.
        var missing = (0..<count).map { needs.range(of: $0).count }, isOrdered = missing.map { $0 == 0 }
        var order = (0..<count).filter { isOrdered[$0] }
        while let node = order.popLast() {
            for end in dependents[of: node] {
                missing[end.node] -= 1
                guard missing[end.node] == 0 else { continue }
                isOrdered[end.node] = true
                order.append(end.node)
            }
        }
        // Every remaining node has an input among the remaining ones, so that a walk backwards reaches a node twice.
        guard var node = isOrdered.firstIndex(of: false) else { return nil }
        var way: [Int] = [], places: [Int: Int] = [:]
        while places[node] == nil {
            places[node] = way.count
            way.append(node)
            guard let need = needs[of: node].first(where: { !isOrdered[$0.node] }) else { return nil }
            node = need.node
        }
        return way[places[node, default: 0]...].reversed()
    }

    /// Returns nodes and everything they depend on, or everything that depends on them, directly or indirectly.
    func closure(of nodes: [Int], along table: EdgeTable) -> [Int] {
        var isFound = Array(repeating: false, count: count), found: [Int] = []
        for node in nodes where !isFound[node] {
            isFound[node] = true
            found.append(node)
        }
        var place = 0
        while place < found.count {
            for end in table[of: found[place]] where !isFound[end.node] {
                isFound[end.node] = true
                found.append(end.node)
            }
            place += 1
        }
        return found
    }
}

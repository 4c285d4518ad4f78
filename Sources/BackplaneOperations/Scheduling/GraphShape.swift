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

    /// Returns the nodes in topological order; only some of them if there is a cycle.
    func order() -> [Int] {
        var missing = (0..<count).map { needs.range(of: $0).count }
        var order = (0..<count).filter { missing[$0] == 0 }
        order.reserveCapacity(count)
        var place = 0
        while place < order.count {
            for end in dependents[of: order[place]] {
                missing[end.node] -= 1
                if missing[end.node] == 0 { order.append(end.node) }
            }
            place += 1
        }
        return order
    }

    /// Returns a cycle, each node after one of its inputs, or `nil`.
    func cycle() -> [Int]? {
        let order = order()
        guard order.count < count else { return nil }
        var isOrdered = Array(repeating: false, count: count)
        for node in order { isOrdered[node] = true }
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

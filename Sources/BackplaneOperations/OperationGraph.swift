import Backplane

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
}

/// The effect of a node's outcome on a dependent.
enum EdgeKind: UInt8, Sendable, CaseIterable {
    /// The dependent requires success.
    case plain
    /// The dependent runs after any outcome.
    case always
    /// The dependent runs after any outcome, and replaces a missing value.
    case recover
}

/// The edges of a graph in two tables: each node's outgoing edges, and its incoming edges.
struct GraphShape: Sendable {
    struct Edge: Sendable {
        var from: Int32
        var to: Int32
        var kind: EdgeKind
    }

    /// The node at the other end of an edge.
    struct End: Sendable {
        private let number: Int32
        let kind: EdgeKind
        var node: Int { Int(number) }
        init(_ number: Int32, _ kind: EdgeKind) { (self.number, self.kind) = (number, kind) }
    }

    /// The ends of the edges of every node, one node after another.
    struct EdgeTable: Sendable {
        private var starts: [Int32]
        private var ends: [End]

        init(_ count: Int, _ edges: [Edge], _ side: (Edge) -> (node: Int32, end: End)) {
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

        subscript(of node: Int) -> ArraySlice<End> { ends[Int(starts[node])..<Int(starts[node + 1])] }
    }

    let count: Int
    /// The edges from each node to its dependents.
    let dependents: EdgeTable
    /// The edges to each node from its inputs.
    let needs: EdgeTable

    init(_ count: Int, _ edges: [Edge]) {
        self.count = count
        dependents = EdgeTable(count, edges) { ($0.from, End($0.to, $0.kind)) }
        needs = EdgeTable(count, edges) { ($0.to, End($0.from, $0.kind)) }
    }

    /// Returns a cycle, each node after one of its inputs, or `nil`.
    func cycle() -> [Int]? {
        // In topological order, as far as there is one.
        var missing = (0..<count).map { needs[of: $0].count }
        var order = missing.indices.filter { missing[$0] == 0 }
        while let node = order.popLast() {
            for end in dependents[of: node] {
                missing[end.node] -= 1
                if missing[end.node] == 0 { order.append(end.node) }
            }
        }
        // Every remaining node has an input among the remaining ones, so that a walk backwards reaches a node twice.
        var node = missing.firstIndex { $0 > 0 }, way: [Int] = [], places: [Int: Int] = [:]
        while let current = node {
            if let place = places[current] { return way[place...].reversed() }
            places[current] = way.count
            way.append(current)
            node = needs[of: current].first { missing[$0.node] > 0 }?.node
        }
        return nil
    }

    /// Returns a node and everything it depends on, or everything that depends on it, directly or indirectly.
    func closure(of node: Int, along table: EdgeTable) -> [Int] {
        var isFound = Array(repeating: false, count: count), found = [node], place = 0
        isFound[node] = true
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

import Backplane

/// The state of a halted graph, in the form that passes from older code to newer code.
///
/// Most nodes are either waiting or have succeeded. These need no entry of their own, so the record of a large graph
/// contains little more than the names and edges, which reveal any change of its shape.
struct GraphRecord: Codable, Sendable {
    /// A node that neither waits nor has succeeded, or whose priority or attempt number differs from the initial one.
    struct Node: Codable, Sendable {
        var phase, outcome, marks, priority: UInt8
        var attempt: UInt16
        var cause: Int32
        /// The status of the last response, for the handlers of a node whose result is held back.
        var code: Int?
        /// The error of a node that has failed by itself.
        var error: BackplaneError?
    }
    /// The input from which the graph was built, in JSON.
    var input: String
    /// The names of the nodes.
    var names: [String]
    /// The edges in the order of their targets: the numbers of the source and the target, and the kind, of each.
    var edges: [Int32]
    /// The nodes that have succeeded: the first number of each run, and the number after its last.
    var succeeded: [Int]
    /// The other nodes that are not merely waiting, by number.
    var nodes: [Int: Node]
    /// The values that nodes have yet to receive, in JSON, by the numbers of their nodes.
    var values: [Int: String]
}

extension GraphRecord {
    /// Returns the edges of a graph in the form that records use.
    static func edges(of shape: GraphShape) -> [Int32] {
        (0..<shape.count).flatMap { node in
            shape.needs[of: node].flatMap { [Int32($0.node), Int32(node), Int32($0.kind.rawValue)] }
        }
    }

    /// Returns the differences between the recorded graph and one of newer code; empty if the newer one can continue
    /// it.
    func differences(from names: [String], _ edges: [Int32]) -> [String] {
        if names == self.names, edges == self.edges { return [] }
        let old = Set(self.names), new = Set(names)
        var found = self.names.uniqued.filter { !new.contains($0) }.map { "the node `\($0)` is missing" }
        found += names.uniqued.filter { !old.contains($0) }.map { "the node `\($0)` is new" }
        guard found.isEmpty else { return found }
        guard names == self.names else {
            return names.count == self.names.count
                ? ["its nodes are in a different order"]
                : ["it has \(names.count) nodes instead of \(self.names.count)"]
        }
        let before = Edge.all(self.edges), after = Edge.all(edges)
        found += before.filter { !after.contains($0) }.map { "\($0.words(names)), and no longer does" }
        found += after.filter { !before.contains($0) }.map { "\($0.words(names)), and did not" }
        return found.isEmpty ? ["its edges are in a different order"] : found.sorted()
    }

    private struct Edge: Hashable {
        let from, to, kind: Int32

        static func all(_ edges: [Int32]) -> Set<Edge> {
            Set(
                stride(from: 0, to: edges.count - 2, by: 3).map {
                    Edge(from: edges[$0], to: edges[$0 + 1], kind: edges[$0 + 2])
                })
        }

        func words(_ names: [String]) -> String {
            func name(_ number: Int32) -> String {
                names.indices.contains(Int(number)) ? "`\(names[Int(number)])`" : "the node \(number)"
            }
            let manner =
                switch EdgeKind(rawValue: UInt32(bitPattern: kind)) {
                case .always: " whatever its outcome (`always`)"
                case .recover: " or a replacement (`recover`)"
                case .plain, nil: ""
                }
            return "\(name(to)) waits for \(name(from))\(manner)"
        }
    }
}

extension [String] {
    /// The elements without repetitions, in their order.
    fileprivate var uniqued: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}

import Backplane
import BackplaneOperations
import Foundation
import Glibc

// The cost of graphs, compared with bare tasks in the same process.
extension BenchSuite {
    static let operations = BenchSuite(name: OperationRows.suite) { _ in
        Opened(
            rows: OperationRows.running + OperationRows.growth + OperationRows.cancelling + OperationRows.foundation,
            remark: "processor time for each node, of one graph in each round; every graph's result is checked"
        ) {}
    }
}

/// The rows of the operations suite. The number of iterations of a row is the number of nodes of its graph.
enum OperationRows {
    static let suite = "operations"
    private static let tasks = "100,000 tasks of a bare group"

    /// The rows of a graph that is built, runs and is released.
    static var running: [Row] {
        [
            nodes(tasks, 100_000) { try await GraphLoops.group($0) },
            nodes(
                "100,000 nodes with 200,000 edges", 100_000, baseline: tasks, target: .ratio(atMost: 4)
            ) { try await GraphLoops.layers($0) },
            Row(
                name: "memory of a node with 2 edges", unit: .bytes, target: .median(atMost: 600), limit: 100_000,
                count: 100_000, rounds: 3
            ) { try await GraphLoops.memory(of: $0) },
        ]
    }

    /// The rows that show whether a node costs as much in a large graph as in a small one.
    ///
    /// The bound allows for the fact that the large graph does not fit in the processor's caches.
    static var growth: [Row] {
        let small = "a node of 10,000, in layers", chained = "a node of 10,000, in a chain"
        return [
            nodes(small, 10_000) { try await GraphLoops.layers($0) },
            nodes("a node of 1,000,000, in layers", 1_000_000, rounds: 3, baseline: small, target: .ratio(atMost: 3)) {
                try await GraphLoops.layers($0)
            },
            nodes(chained, 10_000) { try await GraphLoops.chain($0) },
            nodes("a node of 1,000,000, in a chain", 1_000_000, rounds: 3, baseline: chained, target: .ratio(atMost: 3))
            {
                try await GraphLoops.chain($0)
            },
        ]
    }

    /// The rows of an existing graph, which is run to its end, or cancelled while every node waits.
    static var cancelling: [Row] {
        let run = "running 100,000 nodes that are built"
        return [
            nodes(run, 100_000) { try await GraphLoops.run(waiting: $0) },
            nodes("cancelling 100,000 nodes that wait", 100_000, baseline: run, target: .ratio(atMost: 1)) {
                try await GraphLoops.cancel(waiting: $0)
            },
        ]
    }

    static var foundation: [Row] {
        let queue = "10,000 operations of Foundation's OperationQueue"
        return [
            nodes(queue, 10_000) { try await GraphLoops.operations($0) },
            nodes("10,000 nodes beside them", 10_000, baseline: queue) { try await GraphLoops.layers($0) },
        ]
    }

    /// Creates a row for the processor time of a node, in a graph of a given size.
    private static func nodes(
        _ name: String, _ size: Int, rounds: Int = 15, baseline: String? = nil, target: Target? = nil,
        _ measure: @escaping @Sendable (Int) async throws -> Duration
    ) -> Row {
        Row(
            name: name, unit: .nanoseconds, baseline: baseline, target: target, limit: size, count: size, rounds: rounds
        ) { size in try await measure(size) / .nanoseconds(1) / Double(size) }
    }
}

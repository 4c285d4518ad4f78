package import Backplane
package import BackplaneBoundary
import Synchronization

/// The observation of one graph until its end, including the final states of its nodes.
package final class OperationWatch: Sendable {
    private let operations: HostOperations
    private let number: UInt64

    fileprivate init(_ number: UInt64, in operations: HostOperations) {
        (self.number, self.operations) = (number, operations)
    }

    deinit { operations.forgetWatch(of: number) }

    /// Returns the current nodes, and whether the graph has ended.
    ///
    /// - Throws: The error of a plugin that cannot describe the graph.
    package func nodes() throws(BackplaneError) -> (nodes: [OperationNode], hasEnded: Bool) {
        let (graph, ended) = operations.state.withLock { ($0.graphs[number], $0.ended[number]) }
        guard let graph else { return (ended ?? [], true) }
        return (try graph.functions.nodes(), false)
    }
}

extension HostOperations {
    /// Returns a watch of a graph.
    ///
    /// - Throws: `operation.unknown` if no such graph runs.
    package func watch(_ number: UInt64) throws(BackplaneError) -> OperationWatch {
        let isKnown = state.withLock { state in
            guard state.graphs[number] != nil else { return false }
            state.watches[number, default: 0] += 1
            return true
        }
        guard isKnown else { throw .unknownGraph(number) }
        return OperationWatch(number, in: self)
    }

    fileprivate func forgetWatch(of number: UInt64) {
        state.withLock { state in
            guard let watches = state.watches[number] else { return }
            state.watches[number] = watches > 1 ? watches - 1 : nil
            if watches == 1 { state.ended[number] = nil }
        }
    }
}

public import Backplane
package import BackplaneBoundary
import CBackplane

/// A graph of operations that a component runs.
package struct OperationSummary: Sendable {
    /// The number that identifies the graph, even after a swap.
    package var number: UInt64
    package var name: String
    /// The name of the queue that runs the graph; empty for the component's own queue.
    package var queue: String
    package var component: String
    package var plugin: String
    /// A Boolean value that indicates whether the graph continues in newer code after a swap.
    package var isNamed: Bool
    /// The number of nodes in each state, omitting states without nodes.
    package var states: [String: Int]

    /// The states of nodes, in the order of `BP_NODE_…`.
    static let states = ["waiting", "running", "pausing", "paused", "succeeded", "failed", "cancelled"]
}

/// A graph with its nodes, in the order in which they were added.
package struct OperationDetail: Sendable {
    package var summary: OperationSummary
    package var nodes: [OperationNode]
}

/// A change of a graph or a node.
package enum OperationChange: String, Codable, CaseIterable, Sendable {
    case pause, resume, cancel

    var number: UInt32 {
        switch self {
        case .pause: UInt32(BP_OPERATION_PAUSE)
        case .resume: UInt32(BP_OPERATION_RESUME)
        case .cancel: UInt32(BP_OPERATION_CANCEL)
        }
    }
}

extension BackplaneError.Code {
    /// No graph with this number is running, or it has no such node.
    public static let operationUnknown = Self(rawValue: "operation.unknown")
}

import Backplane
import BackplaneHost

/// The JSON form of a graph of operations in the control protocol.
package struct OperationForm: Codable, Sendable {
    package var number: UInt64
    package var name: String
    package var component: String
    package var plugin: String
    /// The numbers of nodes by their states.
    package var states: [String: Int]
    /// The nodes in their order, each with its name and its state; `nil` in a list of graphs.
    package var nodes: [[String]]?

    init(_ summary: OperationSummary, nodes: [[String]]? = nil) {
        (number, name, component) = (summary.number, summary.name, summary.component)
        (plugin, states, self.nodes) = (summary.plugin, summary.states, nodes)
    }

    private enum CodingKeys: String, CodingKey {
        case number = "number", name = "name", component = "component", plugin = "plugin", states = "states"
        case nodes = "nodes"
    }
}

/// A request for the graphs of operations that run in a host.
package struct OperationsRequest: ControlMessage {
    package static let name = "operations"
    package typealias Answer = [OperationForm]

    package init() {}
}

/// A request for the states of a graph's nodes.
package struct OperationRequest: ControlMessage {
    package static let name = "operation"
    package typealias Answer = OperationForm
    package var number: UInt64

    package init(number: UInt64) { self.number = number }

    private enum CodingKeys: String, CodingKey { case number = "number" }
}

/// A request to change a graph or one of its nodes.
package struct ChangeOperationRequest: ControlMessage {
    package static let name = "change-operation"
    package struct Answer: Codable, Sendable {}
    package var number: UInt64
    /// The change: `pause`, `resume` or `cancel`.
    package var change: String
    /// The number of the node, from 0, or `nil` for all nodes.
    package var node: Int?

    package init(number: UInt64, change: String, node: Int?) {
        (self.number, self.change, self.node) = (number, change, node)
    }

    private enum CodingKeys: String, CodingKey { case number = "number", change = "change", node = "node" }
}

extension ControlRequest {
    static let ofOperations = [operations, operation, changeOperation]

    private static let operations = ControlRequest(OperationsRequest.self, endsWithClient: true) {
        host, _ throws(BackplaneError) in
        host.operations.map { OperationForm($0) }
    }

    private static let operation = ControlRequest(OperationRequest.self, endsWithClient: true) {
        host, request throws(BackplaneError) in
        let detail = try host.operation(request.number)
        return OperationForm(detail.summary, nodes: detail.nodes.map { [$0.name, $0.state] })
    }

    private static let changeOperation = ControlRequest(ChangeOperationRequest.self) {
        host, request throws(BackplaneError) in
        let change: OperationChange
        switch request.change {
        case "pause": change = .pause
        case "resume": change = .resume
        case "cancel": change = .cancel
        default:
            throw BackplaneError(
                .controlMalformed, "expected `pause`, `resume` or `cancel`, found `\(request.change)`", at: "/change")
        }
        try host.change(change, operation: request.number, node: request.node)
        return ChangeOperationRequest.Answer()
    }
}

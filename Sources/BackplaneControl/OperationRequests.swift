import Backplane
package import BackplaneHost

/// A graph of operations in the control protocol.
package struct OperationForm: Codable, Sendable {
    package var number: UInt64
    package var name: String
    /// The name of the queue, or `nil` for the component's own.
    package var queue: String?
    package var component: String
    package var plugin: String
    package var states: [String: Int]
    /// The nodes in order; `nil` in a list of graphs.
    package var nodes: [OperationNodeForm]?

    package init(_ summary: OperationSummary, nodes: [OperationNode]? = nil) {
        (number, name, component, plugin) = (summary.number, summary.name, summary.component, summary.plugin)
        (queue, states) = (summary.queue.isEmpty ? nil : summary.queue, summary.states)
        self.nodes = nodes.map { nodes in nodes.enumerated().map { OperationNodeForm($0, $1) } }
    }
}

/// A node and its state.
package struct OperationNodeForm: Codable, Sendable, Equatable {
    /// The number of the node: nodes are numbered from 0 in the order in which they were added.
    package var node: Int
    package var name: String
    package var state: String
    package var needs: [Int]?
    package var always: [Int]?

    package init(_ number: Int, _ node: OperationNode) {
        (self.node, name, state) = (number, node.name, node.state)
        (needs, always) = (node.needs, node.always)
    }
}

/// A request for the graphs of operations that run in a host.
package struct OperationsRequest: ControlMessage {
    package static let name = "operations"
    package typealias Answer = [OperationForm]

    package init() {}

    static let handler = ControlRequest(Self.self, endsWithClient: true) { host, _ throws(BackplaneError) in
        host.operations.all.map { OperationForm($0) }
    }
}

/// A request for the states of a graph's nodes.
package struct OperationRequest: ControlMessage {
    package static let name = "operation"
    package typealias Answer = OperationForm
    package var number: UInt64

    package init(number: UInt64) { self.number = number }

    static let handler = ControlRequest(Self.self, endsWithClient: true) { host, request throws(BackplaneError) in
        let detail = try host.operations.detail(of: request.number)
        return OperationForm(detail.summary, nodes: detail.nodes)
    }
}

/// A request for the changes of a graph's nodes, each of which is a line of the answer, until the graph has ended.
package struct WatchOperationRequest: ControlMessage {
    package static let name = "watch-operation"
    package typealias Answer = ElementCount
    package var number: UInt64

    package init(number: UInt64) { self.number = number }

    static let handler = ControlRequest(Self.self, isLasting: true) { host, request, work throws(BackplaneError) in
        var shown: [OperationNode] = []
        try await host.operations.follow(request.number) { nodes throws(BackplaneError) in
            for (number, node) in nodes.enumerated() where number >= shown.count || shown[number] != node {
                try work.send(OperationNodeForm(number, node))
            }
            shown = nodes
        }
        return ElementCount(elements: work.sent)
    }
}

/// A request to change a graph or one of its nodes.
package struct ChangeOperationRequest: ControlMessage {
    package static let name = "change-operation"
    package struct Answer: Codable, Sendable {}
    package var number: UInt64
    package var change: OperationChange
    package var node: Int?

    package init(number: UInt64, change: OperationChange, node: Int?) {
        (self.number, self.change, self.node) = (number, change, node)
    }

    static let handler = ControlRequest(Self.self) { host, request throws(BackplaneError) in
        try host.operations.change(request.change, request.number, node: request.node)
        return Answer()
    }
}

import Backplane
import BackplaneBoundary
import BackplaneHost

/// The requests about graphs of operations.
extension ControlRequest {
    static let ofOperations = [operations, operation, watchOperation, changeOperation]

    private static let operations = ControlRequest(OperationsRequest.self, endsWithClient: true) {
        host, _ throws(BackplaneError) in
        host.operations.all.map { OperationForm($0) }
    }

    private static let operation = ControlRequest(OperationRequest.self, endsWithClient: true) {
        host, request throws(BackplaneError) in
        let detail = try host.operations.detail(of: request.number)
        return OperationForm(detail.summary, nodes: detail.nodes)
    }

    private static let watchOperation = ControlRequest(
        WatchOperationRequest.self, endsWithClient: true, isLasting: true
    ) { host, request, work throws(BackplaneError) in
        let watch = try host.operations.watch(request.number)
        var shown: [OperationNode] = [], sent = 0
        while true {
            let (nodes, hasEnded) = try watch.nodes()
            for (number, node) in nodes.enumerated() where number >= shown.count || shown[number] != node {
                try work.send(element: try JSON.encode(OperationNodeForm(number, node), failing: .controlFailed))
                sent += 1
            }
            guard !hasEnded else { break }
            shown = nodes
            // By polling, since a graph reports its changes only to subscribers in its plugin.
            do {
                try await Task.sleep(for: .milliseconds(100))
            } catch {
                throw BackplaneError(.callCancelled, "the client no longer follows the graph")
            }
        }
        return StreamRequest.Answer(elements: sent)
    }

    private static let changeOperation = ControlRequest(ChangeOperationRequest.self) {
        host, request throws(BackplaneError) in
        guard let change = OperationChange(rawValue: request.change) else {
            throw BackplaneError(
                .controlMalformed, "expected `pause`, `resume` or `cancel`, found `\(request.change)`", at: "/change")
        }
        try host.operations.change(change, request.number, node: request.node)
        return ChangeOperationRequest.Answer()
    }
}

// swift-format-ignore-file

import BackplaneOperations

/// A node does not add to its own graph.
func grow() throws -> OperationGraph<Void> {
    var graph = GraphBuilder("shelf")
    _ = graph.add("one") {
        _ = graph.add("two") { 2 }
    }
    return try graph.build()
}

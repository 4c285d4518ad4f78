// swift-format-ignore-file

import BackplaneOperations

/// A node does not add to its own graph.
func grow() throws -> OperationGraph<Void> {
    var graph = GraphBuilder("shelf")
    _ = graph.add("one") {
        _ = graph.add("two") { 2 }  // error: capture of 'graph' with non-Sendable type 'GraphBuilder' in a '@Sendable' closure [#SendableClosureCaptures] // error: mutation of captured var 'graph' in concurrently-executing code [#SendableClosureCaptures]
    }
    return try graph.build()
}

// swift-format-ignore-file

import BackplaneOperations

/// Nothing is added to a graph that was built.
func shelf() throws -> OperationGraph<Int> {
    var graph = GraphBuilder("shelf")  // error: 'graph' used after consume
    let one = graph.add("one") { 1 }
    let built = try graph.build(returning: one)
    _ = graph.add("two") { 2 }
    return built
}

// swift-format-ignore-file

import BackplaneOperations

/// A graph is started once.
func runTwice() throws {
    var graph = GraphBuilder("shelf")
    _ = graph.add("one") { 1 }
    let built = try graph.build()  // error: 'built' consumed more than once
    _ = built.start()
    _ = built.start()
}

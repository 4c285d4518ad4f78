import BackplaneHost

/// The rows for swaps under a graph of operations that outlasts them all: every node runs exactly once.
struct OperationSwapRows: Sendable {
    private let figures: SwapFigures

    init(in folder: String) {
        figures = SwapFigures(.graphs, SwapMeasure.Order(count: 200), in: folder, as: "graphs", rounds: 3)
    }

    var rows: [Row] {
        let name = "200 swaps under a named graph"
        return [
            figures.row("\(name), nodes done meanwhile", "during", unit: .calls),
            figures.never("\(name), nodes not done", "lost"),
            figures.never("\(name), nodes done twice", "twice"),
            figures.never("\(name), nodes whose value was lost", "values lost"),
            figures.never("\(name), graphs that ended meanwhile", "ended"),
            figures.row("\(name), median", "median"),
        ]
    }
}

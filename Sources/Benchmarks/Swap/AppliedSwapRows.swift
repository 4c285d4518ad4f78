import BackplaneHost

/// The rows for swaps with another manifest under callers at full speed: nothing may be lost.
struct AppliedSwapRows: Sendable {
    private let figures: SwapFigures

    init(in folder: String) {
        figures = SwapFigures(.applied, SwapMeasure.Order(count: 200), in: folder, as: "applied")
    }

    var rows: [Row] {
        let name = "\(LoadedSwaps.callers) callers, other manifests"
        return [
            figures.row("\(name), calls answered", "answered", unit: .calls),
            figures.never("\(name), calls failed", "failed"),
            figures.never("\(name), answered twice", "twice"),
            figures.never("\(name), answered by the wrong generation", "wrong"),
            figures.never("\(name), out of order", "disorder"),
            figures.never("\(name), carried count less the callers' own", "miscount"),
            figures.never("\(name), wires that led elsewhere than the manifest says", "misled"),
            figures.row("\(name), wait at the gate, median", "wait"),
            figures.row("\(name), wait at the gate, p99", "wait p99"),
            figures.row("\(name), swap median", "median"),
            figures.row("\(name), swap p99", "p99"),
        ]
    }
}

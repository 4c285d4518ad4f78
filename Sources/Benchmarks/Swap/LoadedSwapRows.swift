import Backplane
import BackplaneHost

/// The rows for the effect of swaps on callers at full speed, which should be limited to short waits.
struct LoadedSwapRows: Sendable {
    private let lanes: LaneRule
    private let figures: SwapFigures

    init(_ lanes: LaneRule, in folder: String) {
        self.lanes = lanes
        let isEncoded = lanes == .encoded
        figures = SwapFigures(
            .loaded, SwapMeasure.Order(isEncoded: isEncoded, count: 200), in: folder,
            as: isEncoded ? "loaded-encoded" : "loaded-native")
    }

    var rows: [Row] {
        let name = "\(LoadedSwaps.callers) callers \(lanes == .encoded ? "encoded" : "native")"
        let gap = "\(name), gap without swaps", worst = "\(name), longest gap without swaps"
        return [
            figures.row("\(name), calls answered", "answered", unit: .calls),
            figures.never("\(name), calls failed", "failed"),
            figures.never("\(name), answered twice", "twice"),
            figures.never("\(name), answered by the wrong generation", "wrong"),
            figures.never("\(name), out of order", "disorder"),
            figures.never("\(name), carried count less the callers' own", "miscount"),
            figures.never("\(name), states that took another lane", "misled"),
            figures.row("\(name), wait at the gate, median", "wait", target: .median(atMost: 0.4)),
            figures.row("\(name), wait at the gate, p99", "wait p99", target: .median(atMost: 3)),
            figures.row("\(name), swap median", "median"),
            figures.row("\(name), swap p99", "p99"),
            figures.row(gap, "control gap"),
            figures.row("\(name), gap with a swap", "gap", baseline: gap),
            figures.row(worst, "control gap worst"),
            figures.row("\(name), longest gap with swaps", "gap worst", baseline: worst),
        ]
    }
}

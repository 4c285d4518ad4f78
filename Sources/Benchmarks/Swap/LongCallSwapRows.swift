import BackplaneHost

/// The rows for a swap during a call of 14 s: other callers wait at most for the drain, and the swap is deferred.
struct LongCallSwapRows: Sendable {
    private let figures: SwapFigures

    init(in folder: String) {
        // In tenths of a second, so that a short run has a short call.
        figures = SwapFigures(.long, SwapMeasure.Order(count: 140), in: folder, as: "long", rounds: 3)
    }

    var rows: [Row] {
        let name = "\(LoadedSwaps.callers) callers, a call of 14 s"
        return [
            figures.row("\(name), calls answered", "answered", unit: .calls),
            figures.never("\(name), calls failed", "failed"),
            figures.never("\(name), answered twice", "twice"),
            figures.never("\(name), answered by the wrong generation", "wrong"),
            figures.never("\(name), out of order", "disorder"),
            figures.never("\(name), carried count less the callers' own", "miscount"),
            // The drain of 200 ms, and what the scheduler adds.
            figures.row("\(name), longest wait at the gate", "wait", target: .median(atMost: 210)),
            figures.row("\(name), longest gap", "gap"),
            figures.row("\(name), from its end to the commit", "late", target: .median(atMost: 50)),
        ]
    }
}

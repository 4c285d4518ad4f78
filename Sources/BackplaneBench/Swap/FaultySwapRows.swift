import BackplaneHost

/// The rows for swaps that fail in one action: how often the old generation did not continue with its state.
struct FaultySwapRows: Sendable {
    private let figures: SwapFigures

    init(in folder: String) {
        figures = SwapFigures(.faulty, SwapMeasure.Order(count: 100), in: folder, as: "faulty")
    }

    var rows: [Row] {
        FaultySwaps.actions.map { name, action in
            let step = action.step.rawValue, place = step == name ? step : "\(step) (\(name))"
            return figures.never(
                "fault at \(place): old generation stopped serving or lost state", name, unit: .failures)
        }
    }
}

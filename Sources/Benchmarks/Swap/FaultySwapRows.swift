import BackplaneHost

/// The rows for swaps in which one action fails: how often the old generation did not continue with its state.
struct FaultySwapRows: Sendable {
    private let figures: SwapFigures
    private let appliesManifest: Bool

    /// Creates the rows.
    ///
    /// - Parameter appliesManifest: Whether the swaps activate another manifest, which renames the manager, moves it to
    ///   another plugin and adds one.
    init(appliesManifest: Bool = false, in folder: String) {
        self.appliesManifest = appliesManifest
        figures = SwapFigures(
            .faulty, SwapMeasure.Order(appliesManifest: appliesManifest, count: 100), in: folder,
            as: appliesManifest ? "faulty-applied" : "faulty")
    }

    var rows: [Row] {
        FaultySwaps.actions.map { name, action in
            let step = action.step.rawValue, place = step == name ? step : "\(step) (\(name))"
            return figures.never(
                "\(appliesManifest ? "other manifest" : "plain"), fault at \(place): old generation stopped serving or lost state",
                name, unit: .failures)
        }
    }
}

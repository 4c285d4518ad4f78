import BackplaneHost

/// The rows for the work in progress during swaps, none of which may be lost or done twice.
struct ErrandSwapRows: Sendable {
    private let figures: SwapFigures

    init(in folder: String) {
        figures = SwapFigures(.errands, SwapMeasure.Order(count: 200), in: folder, as: "errands")
    }

    var rows: [Row] {
        let name = "work under way"
        return [
            figures.row("\(name), long calls answered", "long", unit: .calls),
            figures.row("\(name), swaps that waited for a long call", "waited", unit: .calls),
            figures.never("\(name), long calls lost, made twice or in the wrong generation", "long miscount"),
            figures.row("\(name), exchanges in calls answered", "inside", unit: .calls),
            figures.never("\(name), exchanges in calls lost", "inside lost"),
            figures.never("\(name), exchanges in calls sent twice", "inside twice"),
            figures.row("\(name), exchanges outside of calls that a swap ended", "outside retired", unit: .calls),
            figures.never("\(name), exchanges outside of calls lost", "outside lost"),
            figures.never("\(name), exchanges outside of calls sent twice", "outside twice"),
            figures.row("\(name), transfers completed", "transfers", unit: .calls),
            figures.never("\(name), transfers lost", "transfers lost"),
            figures.never("\(name), transfers requested twice", "transfers twice"),
            figures.never("\(name), sign-ins beyond the first", "sign-ins"),
            figures.row("\(name), times of a timer", "strikes", unit: .calls),
            figures.never("\(name), times of timers lost", "strikes lost"),
            figures.never("\(name), times of timers fired twice", "strikes twice"),
            figures.row("\(name), swap median", "median"),
        ]
    }
}

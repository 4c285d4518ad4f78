import Backplane
import BackplaneHost
import BackplaneTools

/// The rows for the duration of a swap without calls, and of each of its steps.
struct IdleSwapRows: Sendable {
    private let plugin: TurnstilePlugin
    private let figures: SwapFigures
    /// The figures of the library with debug information.
    private let asBuilt: SwapFigures

    init(_ plugin: TurnstilePlugin, in folder: String) {
        self.plugin = plugin
        figures = SwapFigures(
            .idle, SwapMeasure.Order(plugin: plugin, count: 200), in: folder, as: "idle-\(plugin.rawValue)")
        asBuilt = SwapFigures(
            .idle, SwapMeasure.Order(plugin: plugin, hasDebugInformation: true, count: 200), in: folder,
            as: "idle-\(plugin.rawValue)-as-built")
    }

    /// The steps except for the probation, whose duration is an option.
    private static let steps = ChangeStep.allCases.filter { $0 != .probation }

    var rows: [Row] {
        let name = "swap in \(plugin.rawValue)"
        let whole = [
            figures.row("\(name), median", "median", target: .median(atMost: 0.6)),
            figures.row("\(name), p99", "p99", target: .median(atMost: 2)),
            figures.row("\(name), the first", "first"),
            figures.row("\(name) after a trial in a child, median", "tried"),
            figures.row("\(name), what the trial takes", "trial"),
        ]
        let debuggable = plugin == .swift ? [asBuilt.row("\(name) with debug information, median", "median")] : []
        let steps =
            Self.steps.map { figures.row("\(name), step \($0.rawValue)", $0.rawValue) } + [
                figures.row("\(name), outside the steps", "rest")
            ]
        // The parts of the step `prepare` that do not depend on the swap.
        let loading: [(String, LoadingSteps.Step)] = [
            ("copying", .copying), ("checking", .checking), ("dlopen", .loading), ("entry and answer", .asking),
        ]
        return whole + debuggable + steps + loading.map { figures.row("\(name), prepare: \($0)", $1.rawValue) }
    }
}

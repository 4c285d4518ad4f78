import Backplane
import BackplaneHost

/// Says when the new generations of a swap are in force on probation: from then on callers see them.
enum ProbationWatch {
    private static let interval = Duration.milliseconds(500)

    /// Looks until its task is cancelled; without a probation there is nothing to look for.
    static func run(_ host: PluginHost, _ options: SwapOptions, _ work: ControlWork) async {
        guard options.probation != nil else { return }
        var told: Set<String> = []
        while (try? await Task.sleep(for: interval)) != nil {
            for generation in (try? await host.generations()) ?? [] where generation.state == .onProbation {
                let text = "generation \(generation.number) of \(generation.plugin) is in force, on probation"
                if told.insert(text).inserted { work.report(ControlEvent(text)) }
            }
        }
    }
}

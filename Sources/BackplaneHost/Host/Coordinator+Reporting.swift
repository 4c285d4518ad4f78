import Backplane

extension Coordinator {
    /// Returns every generation of a plugin, or of all plugins, that is in memory.
    func generations(of name: String?) throws(BackplaneError) -> [Generation] {
        let report = GenerationReport(
            live: live, retirements: retirements, starter: starter, swap: swapUnderWay)
        return try report.generations(of: name)
    }

    /// Returns the call counts of every running component.
    func statistics() -> [ComponentStatistics] { live.statistics }
}

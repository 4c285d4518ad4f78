import Backplane
import BackplaneDocuments

extension PluginHost {
    /// The lowest levels that the host passes to its log's sink, which can be changed at any time.
    ///
    /// The sink may have levels of its own, below which it drops messages.
    public var logLevels: LogLevels {
        get { coordinator.log.levels }
        set { coordinator.log.levels = newValue }
    }

    /// Changes the levels atomically.
    package func changeLogLevels(_ body: (inout LogLevels) -> Void) { coordinator.log.change(body) }

    /// The levels with which the host was created.
    package var firstLogLevels: LogLevels { coordinator.log.firstLevels }

    /// Returns a remark for each name in ``logLevels`` that does not belong to any component or plugin.
    package func remarksOnLogLevels() async -> [String] {
        let given = logLevels.exceptions.keys.sorted()
        guard !given.isEmpty else { return [] }
        let components = await statistics, managers = await managers
        let known = Set(
            ["host"] + components.flatMap { [$0.component, $0.plugin] }
                + managers.flatMap { [$0.name] + ($0.plugin.map { [$0] } ?? []) })
        return given.filter { !known.contains($0) }.map { name in
            let question = NameSuggestions(for: name, among: known).question.map { "; \($0)" } ?? ""
            return "no running component or plugin is named `\(name)`\(question)"
        }
    }
}

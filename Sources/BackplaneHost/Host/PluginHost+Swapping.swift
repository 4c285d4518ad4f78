public import Backplane

extension PluginHost {
    /// Puts new builds of plugins in force while the host runs: all of them, or none.
    ///
    /// New instances are made from the new code and take over the state of the old ones. Calls under way end on the code they began on;
    /// calls that come to a component that has state, or is exclusive, wait meanwhile; nobody else waits. If anything fails the old
    /// code goes on as if nothing had been.
    ///
    /// - Parameter libraries: paths, or names as the manifest has them.
    /// - Throws: `swap.refused` before anything was touched, or why a step failed, the old generation being in force.
    @discardableResult
    public func swap(_ libraries: [String], _ options: SwapOptions = SwapOptions()) async throws(BackplaneError) -> SwapReport {
        try await swap(libraries, options, onProbation: nil)
    }

    /// - Parameter report: called on the coordinator's thread, which it must not keep, once callers see new code that is on probation.
    package func swap(_ libraries: [String], _ options: SwapOptions, onProbation report: ProbationReport?) async throws(BackplaneError) -> SwapReport {
        try await withTaskExecutorPreference(coordinator.executor) { () async throws(BackplaneError) in
            try await coordinator.swap(libraries, options, onProbation: report)
        }
    }

    /// The same for one library.
    @discardableResult
    public func swap(library: String, _ options: SwapOptions = SwapOptions()) async throws(BackplaneError) -> SwapReport {
        try await swap([library], options)
    }

    /// What ``swap(_:_:)`` would do. Loads the libraries, runs their entries, and touches nothing that runs.
    ///
    /// - Throws: why a library cannot be loaded; what would be refused stands in the preview.
    public func previewSwap(_ libraries: [String], _ options: SwapOptions = SwapOptions()) async throws(BackplaneError) -> SwapPreview {
        try await coordinator.preview(libraries, options)
    }

    /// Swaps back to an older generation of a plugin, which is in memory still.
    ///
    /// - Parameters:
    ///   - plugin: its id, or its library as the manifest names it.
    ///   - generation: its number; `nil`: the last one that was in force before.
    @discardableResult
    public func rollback(
        plugin: String, to generation: Int? = nil, _ options: SwapOptions = SwapOptions()
    ) async throws(BackplaneError) -> SwapReport {
        try await rollback(plugin: plugin, to: generation, options, onProbation: nil)
    }

    /// - Parameter report: as for a swap.
    package func rollback(
        plugin: String, to generation: Int?, _ options: SwapOptions, onProbation report: ProbationReport?
    ) async throws(BackplaneError) -> SwapReport {
        try await withTaskExecutorPreference(coordinator.executor) { () async throws(BackplaneError) in
            try await coordinator.rollback(plugin, to: generation, options, onProbation: report)
        }
    }

    /// Every generation of a plugin that is in memory, oldest first; `nil`: of all plugins.
    ///
    /// Reads how much memory each takes, which costs milliseconds.
    ///
    /// - Throws: `plugin.unknown`.
    public func generations(of plugin: String? = nil) async throws(BackplaneError) -> [Generation] {
        try await coordinator.generations(of: plugin)
    }

    /// What has been asked of every component that is up.
    public var statistics: [ComponentStatistics] {
        get async { await coordinator.statistics() }
    }
}

public import Backplane

extension PluginHost {
    /// Activates new builds of plugins while the host runs: either all of them or none.
    ///
    /// New instances are created from the new code and take over the state of the old ones. Calls in flight finish on
    /// the code they began on. Calls to a component that is stateful or exclusive wait during the swap; no others do.
    /// If a step fails, the old code keeps running as if the swap had never been attempted.
    ///
    /// - Parameters:
    ///   - libraries: The paths of the libraries, or their names as the manifest has them.
    ///   - options: The limits of the swap, and its probation.
    /// - Throws: `swap.refused` before anything was touched, or the error of the step that failed, with the old
    ///   generation still active.
    @discardableResult
    public func swap(_ libraries: [String], _ options: SwapOptions = SwapOptions()) async throws(BackplaneError)
        -> SwapReport
    {
        try await swap(libraries, options, onProbation: nil)
    }

    /// Activates new builds of plugins, and reports when callers reach new code that is on probation.
    ///
    /// - Parameter report: A closure that runs on the coordinator's thread, which it must not block, once callers reach
    ///   the new code.
    package func swap(_ libraries: [String], _ options: SwapOptions, onProbation report: ProbationReport?)
        async throws(BackplaneError) -> SwapReport
    {
        try coordinator.requireThreads()
        return try await withTaskExecutorPreference(coordinator.executor) { () async throws(BackplaneError) in
            try await coordinator.swap(libraries, options, onProbation: report)
        }
    }

    /// Activates a new build of one plugin while the host runs.
    ///
    /// - Parameters:
    ///   - library: The path of the library, or its name as the manifest has it.
    ///   - options: The limits of the swap, and its probation.
    /// - Throws: The same errors as for several libraries.
    @discardableResult
    public func swap(library: String, _ options: SwapOptions = SwapOptions()) async throws(BackplaneError) -> SwapReport
    {
        try await swap([library], options)
    }

    /// Returns what a swap would do; loads the libraries and runs their entry functions, but touches nothing that runs.
    ///
    /// - Parameters:
    ///   - libraries: The paths of the libraries, or their names as the manifest has them.
    ///   - options: The options that the swap would have.
    /// - Throws: The reason why a library cannot be loaded. Reasons to refuse the swap are part of the preview.
    public func previewSwap(_ libraries: [String], _ options: SwapOptions = SwapOptions()) async throws(BackplaneError)
        -> SwapPreview
    {
        try coordinator.requireThreads()
        return try await coordinator.preview(libraries, options)
    }

    /// Swaps back to an older generation of a plugin that is still in memory.
    ///
    /// - Parameters:
    ///   - plugin: The plugin's id, or its library as the manifest names it.
    ///   - generation: The number of the generation; `nil` means the last one that was active before and has not failed
    ///     its probation since.
    ///   - options: The limits of the swap, and its probation.
    /// - Throws: `plugin.unknown`; `swap.refused`, also without such a generation, before anything was touched; or the
    ///   error of the step that failed, with the current generation still active.
    @discardableResult
    public func rollback(
        plugin: String, to generation: Int? = nil, _ options: SwapOptions = SwapOptions()
    ) async throws(BackplaneError) -> SwapReport {
        try await rollback(plugin: plugin, to: generation, options, onProbation: nil)
    }

    /// Swaps back to an older generation, and reports when callers reach it on probation.
    ///
    /// - Parameter report: The same closure as for a swap.
    package func rollback(
        plugin: String, to generation: Int?, _ options: SwapOptions, onProbation report: ProbationReport?
    ) async throws(BackplaneError) -> SwapReport {
        try coordinator.requireThreads()
        return try await withTaskExecutorPreference(coordinator.executor) { () async throws(BackplaneError) in
            try await coordinator.rollback(plugin, to: generation, options, onProbation: report)
        }
    }

    /// Returns the generations of a plugin that are in memory, oldest first.
    ///
    /// Measuring how much memory each one takes costs milliseconds.
    ///
    /// - Parameter plugin: The plugin's id, or its library as the manifest names it; `nil` means all plugins.
    /// - Throws: `plugin.unknown`.
    public func generations(of plugin: String? = nil) async throws(BackplaneError) -> [Generation] {
        try await coordinator.generations(of: plugin)
    }

    /// The numbers of calls and errors of each component that is up.
    public var statistics: [ComponentStatistics] {
        get async { await coordinator.statistics() }
    }
}

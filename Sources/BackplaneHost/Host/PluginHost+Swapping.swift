public import Backplane
package import BackplaneRecords

extension PluginHost {
    /// Activates new builds of plugins while the host runs: either all of them or none.
    ///
    /// New instances are created from the new code and take over the state of the old ones. Calls in flight finish in
    /// the code in which they started. Only calls to stateful or exclusive components wait during the swap. If a step
    /// fails, the old code keeps running as if the swap had never been attempted.
    ///
    /// - Parameters:
    ///   - libraries: The paths of the libraries or definition files, or their names in the manifest.
    ///   - options: The limits and the probation of the swap.
    /// - Throws: `swap.refused` before anything was changed, or the error of the step that failed, with the old
    ///   generation still active.
    @discardableResult
    public func swap(_ libraries: [String], _ options: SwapOptions = SwapOptions()) async throws(BackplaneError)
        -> SwapReport
    {
        try await swap(libraries, applying: nil, options, progress: nil)
    }

    /// Activates another manifest and new builds of plugins in one transaction: both, or neither.
    ///
    /// The code fits the new manifest and the manifest the new code, so a class can be renamed, a manager moved to
    /// another plugin, or a wire added together with the code that calls through it. Components that the manifest adds
    /// start before anything else is changed, and those that it no longer has stop when the swap is committed. If a
    /// step or the probation fails, the old manifest, code and state continue.
    ///
    /// ```swift
    /// let manifest = ManifestDocument(contentsOf: "manifests/almanac.json")
    /// try await host.swap(["Almanac"], applying: manifest)
    /// ```
    ///
    /// - Parameters:
    ///   - libraries: The paths of the libraries, or their names in the new manifest; those that the manifest adds are
    ///     always loaded.
    ///   - manifest: The manifest to activate. A definition with `was` continues the component that had that name.
    ///   - options: The limits and the probation of the swap.
    /// - Throws: `swap.refused` or the errors of the manifest before anything was changed, or the error of the step
    ///   that failed.
    @discardableResult
    public func swap(
        _ libraries: [String] = [], applying manifest: ManifestDocument, _ options: SwapOptions = SwapOptions()
    ) async throws(BackplaneError) -> SwapReport {
        try await swap(libraries, applying: manifest, options, progress: nil)
    }

    /// Activates new builds of plugins and, if specified, a manifest, and reports the progress of a long swap.
    ///
    /// - Parameter report: A closure that runs on the coordinator's thread, which it must not block.
    package func swap(
        _ libraries: [String], applying manifest: ManifestDocument?, _ options: SwapOptions,
        progress report: SwapProgressReport?
    ) async throws(BackplaneError) -> SwapReport {
        try await swapping(.swap) { coordinator throws(BackplaneError) in
            try await coordinator.swap(libraries, applying: manifest, options, progress: report)
        }
    }

    private func swapping(
        _ operation: HostEvent.Operation,
        _ swap: @escaping @Sendable (Coordinator) async throws(BackplaneError) -> SwapReport
    ) async throws(BackplaneError) -> SwapReport {
        let coordinator = coordinator
        try coordinator.requireThreads()
        return try await withTaskExecutorPreference(coordinator.executor) { () async throws(BackplaneError) in
            try await coordinator.announcing(
                operation, { () async throws(BackplaneError) in try await swap(coordinator) },
                { $0.outcome == .unchanged ? nil : .swapped(report: $0) })
        }
    }

    /// Activates a new build of one plugin while the host runs.
    ///
    /// - Parameters:
    ///   - library: The path of the library, or its name in the manifest.
    ///   - options: The limits and the probation of the swap.
    /// - Throws: The same errors as for several libraries.
    @discardableResult
    public func swap(library: String, _ options: SwapOptions = SwapOptions()) async throws(BackplaneError) -> SwapReport
    {
        try await swap([library], options)
    }

    /// Returns a preview of a swap, for which the libraries are loaded but no component is affected.
    ///
    /// - Parameters:
    ///   - libraries: The paths of the libraries or definition files, or their names in the manifest.
    ///   - manifest: The manifest that the swap would activate, or `nil` for the active one.
    ///   - options: The options that the swap would have.
    /// - Throws: The reason why a library cannot be loaded. Reasons to refuse the swap are part of the preview.
    public func previewSwap(
        _ libraries: [String], applying manifest: ManifestDocument? = nil, _ options: SwapOptions = SwapOptions()
    ) async throws(BackplaneError) -> SwapPreview {
        try coordinator.requireThreads()
        return try await coordinator.preview(libraries, applying: manifest, options)
    }

    /// Swaps back to an older generation of a plugin that is still in memory.
    ///
    /// If a swap replaced that generation together with the manifest, and no other manifest has been applied since, the
    /// earlier manifest is reactivated with all of its code.
    ///
    /// - Parameters:
    ///   - plugin: The plugin's id, or the name of its library in the manifest.
    ///   - generation: The number of the generation; `nil` means the last one that was active before and has not failed
    ///     its probation since.
    ///   - options: The limits and the probation of the swap.
    /// - Throws: `plugin.unknown`; `swap.refused` before anything was changed, including if there is no such
    ///   generation; or the error of the step that failed, with the current generation still active.
    @discardableResult
    public func rollback(
        plugin: String, to generation: Int? = nil, _ options: SwapOptions = SwapOptions()
    ) async throws(BackplaneError) -> SwapReport {
        try await rollback(plugin: plugin, to: generation, options, progress: nil)
    }

    /// Swaps back to an older generation, and reports the progress.
    ///
    /// - Parameter report: The same closure as for a swap.
    package func rollback(
        plugin: String, to generation: Int?, _ options: SwapOptions, progress report: SwapProgressReport?
    ) async throws(BackplaneError) -> SwapReport {
        try await swapping(.rollback) { coordinator throws(BackplaneError) in
            try await coordinator.rollback(plugin, to: generation, options, progress: report)
        }
    }

    /// Returns the generations of a plugin that are in memory, oldest first.
    ///
    /// Measuring the memory use of each one takes milliseconds.
    ///
    /// - Parameter plugin: The plugin's id, or the name of its library in the manifest; `nil` means all plugins.
    /// - Throws: `plugin.unknown`.
    public func generations(of plugin: String? = nil) async throws(BackplaneError) -> [Generation] {
        try await coordinator.generations(of: plugin)
    }

    /// The record store of all components, which is opened when it is first used.
    package var records: any RecordStore { coordinator.records }

    /// The folder of the record store.
    ///
    /// - Throws: `host.data-folder-unusable` if there is no folder for data.
    package var recordFolder: String {
        get throws(BackplaneError) { try coordinator.dataFolder().storePath }
    }

    /// The numbers of calls and errors of each running component.
    public var statistics: [ComponentStatistics] {
        get async { await coordinator.statistics() }
    }
}

public import Backplane
import BackplaneDocuments
public import BackplaneExchange
import BackplaneNetwork
package import BackplaneRecords
public import BackplaneTransfers
import Synchronization

/// The runtime: loads the plugins of a manifest, builds its managers with their collaborators, and calls them.
///
/// ```swift
/// let host = PluginHost(manifest: ManifestDocument(contentsOf: "manifests/almanac.json"))
/// try await host.start()
/// let almanac = try await host.manager("AlmanacManager", as: Almanac.self)
/// print(try await almanac.on("07-20"))
/// await host.stop()
/// ```
///
/// The host is lazy: libraries are loaded when they are first needed, and managers start with ``start(keepGoing:)`` or
/// when they are looked up. There is deliberately no shared instance; pass the host to the code that needs it.
///
/// Call ``stop()`` when you are done. If you release a host without stopping it, its components are not stopped, and
/// the next host removes its load folder.
public final class PluginHost: Sendable {
    let coordinator: Coordinator
    /// The registry of the host program's own instances, which plugins cannot see.
    public let services = ServiceRegistry()

    /// Creates a host for a manifest document.
    ///
    /// - Parameters:
    ///   - manifest: The manifest, whose problems are reported by ``check()``.
    ///   - plugins: The plugins that are linked into this program; they precede the plugins of the manifest.
    ///   - options: The folders, limits and engines of the host.
    public convenience init(
        manifest: ManifestDocument, plugins: [any Plugin.Type] = [], options: HostOptions = HostOptions()
    ) {
        self.init(manifest: manifest, linked: plugins.map { LinkedPlugin($0) }, options: options)
    }

    package init(manifest: ManifestDocument, linked: [LinkedPlugin], options: HostOptions) {
        _ = MainQueue.owner
        coordinator = Coordinator(manifest, linked: linked, options)
    }

    /// Creates a host for a manifest built in Swift.
    ///
    /// - Parameters:
    ///   - manifest: The manifest, whose problems are reported by ``check()``.
    ///   - plugins: The plugins that are linked into this program; they precede the plugins of the manifest.
    ///   - options: The folders, limits and engines of the host.
    public convenience init(manifest: Manifest, plugins: [any Plugin.Type] = [], options: HostOptions = HostOptions()) {
        self.init(manifest: ManifestDocument(manifest), plugins: plugins, options: options)
    }

    deinit {
        coordinator.retire()
    }

    /// Returns all problems of the manifest and its plugins, including warnings, without starting anything.
    ///
    /// Environments that are not in use are checked, too: the manifest is read once for each of them.
    public func check() async -> [Problem] {
        let loaded = await coordinator.loaded()
        return (loaded.problems + loaded.document.rehearsal).grouped
    }

    /// Returns warnings about the states of the manifest's components that can only be carried over as JSON.
    ///
    /// Only Swift components are examined, and none is started. All other states would cross a swap as Swift values.
    public func encodedStates() async -> [Problem] {
        await coordinator.loaded().encodedStates
    }

    /// Returns the composition of the active manifest and its plugins for use by tools, without starting anything.
    package func composition() async -> Composition {
        await coordinator.loaded().composition(coordinator.options.lanes)
    }

    /// Returns the contract that a manager provides and the layouts of its methods, without starting anything.
    ///
    /// - Throws: The reason why there is no such manager, or why it cannot be created.
    package func providerSide(ofManager name: String) async throws(BackplaneError) -> LaneSide {
        try await coordinator.loaded().providerSide(ofManager: name)
    }

    /// Returns the lock that pins each definition of the manifest to the version that the plugins currently provide.
    package func lock() async -> [String: LockedClass] {
        await coordinator.loaded().lock
    }

    /// The pipeline of all HTTP exchanges, which is always available immediately.
    package var network: HTTPPipeline { coordinator.network.pipeline }

    /// The cache of HTTP exchanges with the active manifest's settings, which is always available immediately.
    package var cache: ResponseCache { coordinator.network.active.cache }

    /// Returns the pool of the host's transfers, opening it if necessary.
    ///
    /// The ids of a plugin's transfers begin with the plugin's id and a slash; other ids belong to the program. The
    /// pool stops when the host stops.
    ///
    /// - Throws: `store.unusable` or `store.damaged`; `host.stopped`.
    public func transferPool() async throws(BackplaneError) -> TransferPool {
        try coordinator.requireThreads()
        return try await coordinator.transfers.pool()
    }

    /// The graphs of operations that components run, which are always available immediately.
    package var operations: HostOperations { coordinator.graphs }

    /// Returns the stages of a trace's exchanges, collected from now on; `nil` if there is no trace.
    package func exchanges(of trace: Trace?) -> TracedExchanges? {
        trace.map { TracedExchanges(of: $0.id, in: coordinator.network.taps) }
    }

    /// Returns an executor that the manifest names under `network.executors`, with its current capabilities.
    ///
    /// The manager that provides it is started if necessary. Use `HTTPConformance` of `BackplaneConformance` to test
    /// the executor.
    ///
    /// - Throws: `network.refused` if the manifest does not name it; `network.failed` with the reason why the manager
    ///   did not start.
    public func executor(_ name: String) async throws(BackplaneError) -> any HTTPExecutor {
        var options = HTTPOptions()
        options.executor = name
        do {
            return try await network.executor(for: HTTPRequest("GET", "\(name):"), options)
        } catch {
            throw BackplaneError(thrown: error)
        }
    }

    /// The source of the active manifest, which is always available immediately.
    package var manifestSource: ManifestSource { coordinator.manifestSource.value }

    /// The routes of the active plan, which are always available immediately.
    package var routing: HostRouting { coordinator.routing }

    /// Starts all eager managers and everything that they need; independent managers start concurrently.
    ///
    /// - Parameter keepGoing: A Boolean value that indicates whether to skip managers that cannot be started;
    ///   ``managers`` states the reasons.
    /// - Throws: All errors of the manifest, before anything starts; or the reasons why components did not start.
    ///   Everything that does not need these components is then running. With `keepGoing`, only `host.stopped`.
    public func start(keepGoing: Bool = false) async throws(BackplaneError) {
        try coordinator.requireThreads()
        let coordinator = coordinator
        try await coordinator.announcing(
            .start, { () async throws(BackplaneError) in try await coordinator.startAll(keepGoing: keepGoing) },
            { await .started(managers: coordinator.managersUp) })
    }

    /// Activates another manifest while the host runs, or changes nothing.
    ///
    /// New components start, components whose definition changes are recreated with their state, removed components
    /// stop, and all others keep running. Remotes that the host program and other components hold stay valid. New
    /// libraries are loaded, and removed libraries are no longer used. If only the configuration of a component changes
    /// and its class supports it (`ReconfigurableComponent`), the component receives the new one while it runs.
    ///
    /// - Parameters:
    ///   - manifest: The manifest to activate. A definition with `was` continues the component that had that name.
    ///   - options: The limits and the probation of the change.
    /// - Throws: All errors of the manifest, `swap.refused` with the reasons against the change, or `swap.failed` with
    ///   the error of the step that failed; nothing has changed then.
    @discardableResult
    public func apply(_ manifest: ManifestDocument, _ options: ChangeOptions = ChangeOptions())
        async throws(BackplaneError) -> ChangeReport
    {
        try await apply(manifest, options, progress: nil)
    }

    /// Activates a manifest built in Swift while the host runs.
    ///
    /// - Throws: The same errors as for a ``ManifestDocument``.
    @discardableResult
    public func apply(_ manifest: Manifest, _ options: ChangeOptions = ChangeOptions()) async throws(BackplaneError)
        -> ChangeReport
    {
        try await apply(ManifestDocument(manifest), options)
    }

    /// Activates another manifest, and reports the progress.
    ///
    /// - Parameter report: The same closure as for a swap.
    package func apply(
        _ manifest: ManifestDocument, _ options: ChangeOptions, progress report: ChangeProgressReport?
    ) async throws(BackplaneError) -> ChangeReport {
        try await changing(.apply) { coordinator throws(BackplaneError) in
            try await coordinator.apply(manifest, options, progress: report)
        }
    }

    /// Recreates one manager and the collaborators that only it uses, without their state.
    ///
    /// - Throws: `manager.unknown`, the manager's own problem, or `swap.failed` with the reason why a new instance did
    ///   not start; the old instances then keep running.
    @discardableResult
    public func reset(_ manager: String) async throws(BackplaneError) -> ChangeReport {
        try await changing(.reset) { coordinator throws(BackplaneError) in
            try await coordinator.reset(.manager(manager))
        }
    }

    /// Recreates every running component without its state.
    ///
    /// - Throws: `swap.failed` with the reason why a new instance did not start; the old instances then keep running.
    @discardableResult
    public func reset() async throws(BackplaneError) -> ChangeReport {
        try await changing(.reset) { coordinator throws(BackplaneError) in try await coordinator.reset(.everything) }
    }

    /// Makes a change, and announces its result.
    private func changing(
        _ operation: HostEvent.Operation,
        _ change: @escaping @Sendable (Coordinator) async throws(BackplaneError) -> ChangeReport
    ) async throws(BackplaneError) -> ChangeReport {
        let coordinator = coordinator
        try coordinator.requireThreads()
        return try await withTaskExecutorPreference(coordinator.executor) { () async throws(BackplaneError) in
            try await coordinator.announcing(
                operation, { () async throws(BackplaneError) in try await change(coordinator) },
                { report in
                    switch operation {
                    case .apply: .applied(report: report)
                    case .reset: .reset(report: report)
                    default: report.outcome == .unchanged ? nil : .swapped(report: report)
                    }
                })
        }
    }

    /// The events of the host from now on, until it has stopped.
    public var events: HostEvents { coordinator.events.listen() }

    /// Returns the managers of the manifest that serve a contract, running or not, ordered by plugin and then by name.
    ///
    /// Nothing is started, although the libraries of the manifest are loaded if necessary.
    public func providers<C: Contract>(of _: C.Type) async -> [ManagerDescription] {
        await coordinator.providers(of: C.self)
    }

    /// Returns the first running manager that serves a contract and meets a condition, ordered by plugin and then by
    /// name.
    ///
    /// Nothing is started; use ``manager(_:as:)`` to start a manager.
    ///
    /// - Parameters:
    ///   - contract: The contract that the manager serves.
    ///   - isWanted: The condition that a manager must meet.
    /// - Throws: `manager.unknown` if no such manager is running; the error names those that are not running.
    public func resolve<C: Contract>(
        _ contract: C.Type = C.self, where isWanted: @Sendable (ManagerDescription) -> Bool = { _ in true }
    ) async throws(BackplaneError) -> Remote<C> {
        try coordinator.requireThreads()
        return Remote(try await coordinator.resolve(C.self, where: isWanted))
    }

    /// Returns a manager by its name in the manifest, starting it if necessary.
    ///
    /// - Throws: `manager.unknown`, the problem of the manager or of a component that it needs, `wire.mismatch` if it
    ///   provides another contract, or `host.stopped`.
    public func manager<C: Contract>(_ name: String, as _: C.Type = C.self) async throws(BackplaneError) -> Remote<C> {
        try await coordinator.manager(name, as: C.self)
    }

    /// Calls a method by name with JSON input and output, for tools that do not know the contract.
    ///
    /// - Parameters:
    ///   - manager: The name of the manager in the manifest.
    ///   - method: The name of the method in the manager's contract.
    ///   - input: The JSON of the argument; `null` for a method without one.
    ///   - call: The call on whose behalf the method runs, such as one from ``begin(within:traceparent:)``.
    /// - Returns: The JSON of the result.
    /// - Throws: The errors of ``manager(_:as:)``, `call.unimplemented` for a method that does not exist,
    ///   `call.wrong-kind` for a stream, or any error of the call itself.
    public func call(_ manager: String, _ method: String, _ input: [UInt8], _ call: Call) async throws(BackplaneError)
        -> [UInt8]
    {
        try coordinator.requireThreads()
        do throws(BackplaneError) {
            return try await coordinator.names(of: manager).call(method, input, call)
        } catch {
            // The called component only knows that it has stopped, not that the host has.
            if error.code == .callRetired, await coordinator.isStopped { throw .hostHasStopped }
            throw error
        }
    }

    /// Opens a stream by name with JSON input, for tools that do not know the contract.
    ///
    /// - Parameters:
    ///   - manager: The name of the manager in the manifest.
    ///   - method: The name of the stream in the manager's contract.
    ///   - input: The JSON of the argument; `null` for a stream without one.
    ///   - call: The call on whose behalf the stream is opened, such as one from ``begin(within:traceparent:)``. Its
    ///     deadline bounds the opening of the stream, not its lifetime.
    /// - Returns: The JSON of each element. Iterating over the elements throws `call.unimplemented` for a method that
    ///   does not exist, `call.wrong-kind` for a method that is not a stream, or the error of the stream itself.
    /// - Throws: The errors of ``manager(_:as:)``.
    public func stream(_ manager: String, _ method: String, _ input: [UInt8], _ call: Call)
        async throws(BackplaneError) -> NamedElements
    {
        try coordinator.requireThreads()
        let wire = try await coordinator.names(of: manager)
        return NamedElements(
            NamedStream(method, input, call, through: wire) { [coordinator] in
                try? await coordinator.loaded().providerSide(ofManager: manager)
            })
    }

    /// Returns a new call that starts here.
    ///
    /// - Parameters:
    ///   - duration: The time until the call's deadline; `nil` means no deadline.
    ///   - traceparent: The trace that the call continues, in the format of the W3C Trace Context header `traceparent`.
    ///     If it is `nil` or malformed, a new trace begins.
    public func begin(within duration: Duration? = nil, traceparent: String? = nil) -> Call {
        var call = Call(within: nil, traceparent: traceparent)
        call.deadline = duration.map { coordinator.clock.moment + $0 }
        return call
    }

    /// The managers of the manifest in alphabetical order, each with its state.
    public var managers: [ManagerStatus] {
        get async { await coordinator.statuses() }
    }

    /// Returns the gate of a manager, starting the manager if necessary.
    package func gate(of manager: String) async throws(BackplaneError) -> Gate {
        try await coordinator.gate(of: manager)
    }

    /// The wires of all active components, in the order in which their consumers were created.
    ///
    /// The host program's own wires come last.
    public var wires: [WireStatus] {
        get async { await coordinator.wires() }
    }

    /// Stops all components in reverse order of their start; a stopped host cannot be started again.
    ///
    /// Each component is limited to ``HostOptions/stopLimit``; the log names those that did not stop. Stopping does not
    /// need a thread of Swift's pool, but its caller may need one to continue.
    public func stop() async {
        do throws(BackplaneError) {
            try coordinator.requireThreads()
        } catch {
            // Without threads nothing has started.
            return coordinator.log.report(
                .error, "not stopped; the next host removes its copies of libraries", ["error": error.description])
        }
        await coordinator.stop()
    }
}

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
    public func swap(_ libraries: [String], _ options: ChangeOptions = ChangeOptions()) async throws(BackplaneError)
        -> ChangeReport
    {
        try await swap(libraries, applying: nil, options, progress: nil)
    }

    /// Activates another manifest and new builds of plugins in one transaction: both, or neither.
    ///
    /// The new code need only fit the new manifest. You can therefore rename a class, move a manager to another plugin,
    /// or add a wire together with the code that calls through it. Components that the manifest adds start before
    /// anything else is changed. Components that it removes stop when the swap is committed. If a step or the probation
    /// fails, the old manifest, code and state continue.
    ///
    /// ```swift
    /// let manifest = ManifestDocument(contentsOf: "manifests/almanac.json")
    /// try await host.swap(["Almanac"], applying: manifest)
    /// ```
    ///
    /// - Parameters:
    ///   - libraries: The paths of the libraries, or their names in the new manifest; libraries that the manifest adds
    ///     are always loaded.
    ///   - manifest: The manifest to activate. A definition with `was` continues the component that had that name.
    ///   - options: The limits and the probation of the swap.
    /// - Throws: `swap.refused` or the errors of the manifest before anything was changed, or the error of the step
    ///   that failed.
    @discardableResult
    public func swap(
        _ libraries: [String] = [], applying manifest: ManifestDocument, _ options: ChangeOptions = ChangeOptions()
    ) async throws(BackplaneError) -> ChangeReport {
        try await swap(libraries, applying: manifest, options, progress: nil)
    }

    /// Activates new builds of plugins and, if specified, a manifest, and reports the progress of a long swap.
    ///
    /// - Parameter report: A closure that runs on the coordinator's thread, which it must not block.
    package func swap(
        _ libraries: [String], applying manifest: ManifestDocument?, _ options: ChangeOptions,
        progress report: ChangeProgressReport?
    ) async throws(BackplaneError) -> ChangeReport {
        try await changing(.swap) { coordinator throws(BackplaneError) in
            try await coordinator.swap(libraries, applying: manifest, options, progress: report)
        }
    }

    /// Activates a new build of one plugin while the host runs.
    ///
    /// - Parameters:
    ///   - library: The path of the library, or its name in the manifest.
    ///   - options: The limits and the probation of the swap.
    /// - Throws: The same errors as for several libraries.
    @discardableResult
    public func swap(library: String, _ options: ChangeOptions = ChangeOptions()) async throws(BackplaneError)
        -> ChangeReport
    {
        try await swap([library], options)
    }

    /// Returns the plan of a change; this loads libraries but affects no component.
    ///
    /// - Parameters:
    ///   - libraries: The paths of the libraries or definition files to swap, or their names in the manifest.
    ///   - manifest: The manifest to activate, or `nil` for the active one.
    ///   - options: The options that the change would have.
    /// - Throws: The reason why a library cannot be loaded, or the errors of the manifest. Reasons to refuse the change
    ///   are part of the plan.
    public func preview(
        _ libraries: [String] = [], applying manifest: ManifestDocument? = nil,
        _ options: ChangeOptions = ChangeOptions()
    ) async throws(BackplaneError) -> ChangeReport {
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
    ///   - generation: The number of the generation; `nil` means the last generation that was active before and
    ///     has not failed a probation since.
    ///   - options: The limits and the probation of the swap.
    /// - Throws: `plugin.unknown`; `swap.refused` before anything was changed, including if there is no such
    ///   generation; or the error of the step that failed, with the current generation still active.
    @discardableResult
    public func rollback(
        plugin: String, to generation: Int? = nil, _ options: ChangeOptions = ChangeOptions()
    ) async throws(BackplaneError) -> ChangeReport {
        try await rollback(plugin: plugin, to: generation, options, progress: nil)
    }

    /// Swaps back to an older generation, and reports the progress.
    ///
    /// - Parameter report: The same closure as for a swap.
    package func rollback(
        plugin: String, to generation: Int?, _ options: ChangeOptions, progress report: ChangeProgressReport?
    ) async throws(BackplaneError) -> ChangeReport {
        try await changing(.rollback) { coordinator throws(BackplaneError) in
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
        get throws(BackplaneError) { try coordinator.dataFolder().path(of: .store) }
    }

    /// The numbers of calls and errors of each running component.
    public var statistics: [ComponentStatistics] {
        get async { await coordinator.statistics() }
    }

    /// The activity of the limits in the manifest's `network.limits`, for each host that has been sent requests.
    public var limits: [LimitStatistics] { coordinator.network.limits }
}

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

public import Backplane
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
/// The host is lazy: libraries are loaded once, when they are first needed, and managers start with
/// ``start(keepGoing:)`` or when they are looked up. There is deliberately no shared instance; pass the host to the
/// code that needs it.
///
/// Call ``stop()`` when you are done. A host that is released without it does not stop its components, and leaves its
/// load folder for the next host to remove.
public final class PluginHost: Sendable {
    let coordinator: Coordinator
    /// The registry of the host program's own instances, which plugins cannot see.
    public let services = ServiceRegistry()

    /// Creates a host for a manifest document.
    ///
    /// - Parameters:
    ///   - manifest: The manifest, whose problems are reported by ``check()``.
    ///   - plugins: The plugins that are linked into this program; they come before those of the manifest.
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
    ///   - plugins: The plugins that are linked into this program; they come before those of the manifest.
    ///   - options: The folders, limits and engines of the host.
    public convenience init(manifest: Manifest, plugins: [any Plugin.Type] = [], options: HostOptions = HostOptions()) {
        self.init(manifest: ManifestDocument(manifest), plugins: plugins, options: options)
    }

    deinit {
        coordinator.retire()
    }

    /// Returns all problems of the manifest and its plugins, including warnings, without starting anything.
    public func check() async -> [Problem] {
        await coordinator.problems()
    }

    /// Returns the composition of the active manifest and its plugins, for tools, without starting anything.
    package func composition() async -> Composition {
        await coordinator.composition()
    }

    /// Returns the lock that matches what the plugins currently provide for each definition of the manifest.
    package func lock() async -> [String: LockedClass] {
        await coordinator.lock()
    }

    /// The source of the active manifest; available immediately, whatever the coordinator is doing.
    package var manifestSource: ManifestSource { coordinator.manifestSource.value }

    /// Starts all eager managers and what they need; independent managers start concurrently.
    ///
    /// - Parameter keepGoing: A Boolean value that indicates whether to skip what cannot be started; ``managers`` gives
    ///   the reasons.
    /// - Throws: All errors of the manifest, before anything starts; or the reasons why components did not start, while
    ///   everything that does not need them is up. With `keepGoing`, only `host.stopped`.
    public func start(keepGoing: Bool = false) async throws(BackplaneError) {
        try coordinator.requireThreads()
        try await coordinator.startAll(keepGoing: keepGoing)
    }

    /// Activates another manifest while the host runs.
    ///
    /// Whatever the new manifest changes, and whatever depends on that, is started, stopped or recreated; everything
    /// else keeps running. Remotes that the host program and other components hold stay valid: calls that arrive while
    /// a manager is being recreated wait. Libraries that the manifest names for the first time are loaded; those it no
    /// longer names are no longer used.
    ///
    /// - Parameters:
    ///   - manifest: The manifest to activate.
    ///   - trustsLibraries: Whether to load new libraries without a trial in a child process.
    /// - Throws: All errors of the manifest, in which case nothing has changed; or the reasons why components did not
    ///   start, in which case the rest is as the manifest says.
    @discardableResult
    public func apply(_ manifest: ManifestDocument, trustsLibraries: Bool = false) async throws(BackplaneError)
        -> ManifestChange
    {
        try coordinator.requireThreads()
        return try await coordinator.make(.apply(manifest, trust: trustsLibraries))
    }

    /// Activates a manifest built in Swift while the host runs.
    ///
    /// - Throws: The same errors as for a ``ManifestDocument``.
    @discardableResult
    public func apply(_ manifest: Manifest) async throws(BackplaneError) -> ManifestChange {
        try coordinator.requireThreads()
        return try await coordinator.make(.apply(ManifestDocument(manifest), trust: false))
    }

    /// Recreates one manager and the collaborators that only it uses; calls that arrive meanwhile wait.
    ///
    /// - Throws: `manager.unknown`, the manager's own problem, or the reason why it did not start again.
    @discardableResult
    public func reset(_ manager: String) async throws(BackplaneError) -> ManifestChange {
        try coordinator.requireThreads()
        return try await coordinator.make(.reset(manager))
    }

    /// Recreates every component that is up; calls that arrive meanwhile wait.
    ///
    /// - Throws: The reasons why components did not start again.
    @discardableResult
    public func reset() async throws(BackplaneError) -> ManifestChange {
        try coordinator.requireThreads()
        return try await coordinator.make(.reset(nil))
    }

    /// Returns a manager by its name in the manifest, starting it if necessary.
    ///
    /// - Throws: `manager.unknown`, the problem of the manager or of something it needs, `wire.mismatch` when it
    ///   provides another contract, or `host.stopped`.
    public func manager<C: Contract>(_ name: String, as _: C.Type = C.self) async throws(BackplaneError) -> Remote<C> {
        if let slot = coordinator.knownSlot(to: name, as: C.self) { return Remote(slot) }
        try coordinator.requireThreads()
        return Remote(try await coordinator.slot(to: name, as: C.self))
    }

    /// Calls a method by name with JSON input and output, for tools that do not know the contract.
    ///
    /// - Parameters:
    ///   - manager: The name of the manager in the manifest.
    ///   - method: The name of the method in the manager's contract.
    ///   - input: The JSON of the argument; `null` for a method without one.
    ///   - call: The call on whose behalf the method runs, such as one from ``begin(within:)``.
    /// - Returns: The JSON of the result.
    /// - Throws: The errors of ``manager(_:as:)``, `call.unimplemented` for a method that does not exist, or any error
    ///   of the call itself.
    public func call(_ manager: String, _ method: String, _ input: [UInt8], _ call: Call) async throws(BackplaneError)
        -> [UInt8]
    {
        try coordinator.requireThreads()
        do throws(BackplaneError) {
            return try await coordinator.names(of: manager).call(method, input, call)
        } catch {
            // The component that was called only knows that it has stopped itself.
            if error.code == .callRetired, await coordinator.isStopped { throw .hostHasStopped }
            throw error
        }
    }

    /// Returns a new call that begins here.
    ///
    /// - Parameter duration: The time the call has until its deadline; `nil` means no deadline.
    public func begin(within duration: Duration? = nil) -> Call {
        Call(within: duration)
    }

    /// The managers of the manifest in order of name, each with its state.
    public var managers: [ManagerStatus] {
        get async { await coordinator.statuses() }
    }

    /// Returns the gate of a manager, starting the manager if necessary.
    package func gate(of manager: String) async throws(BackplaneError) -> Gate {
        try await coordinator.gate(of: manager)
    }

    /// The wires of all components that are up, in the order their users were created.
    ///
    /// The host program's own wires come last.
    public var wires: [WireStatus] {
        get async { await coordinator.wires() }
    }

    /// Stops all components in reverse order of their start; a stopped host cannot be started again.
    public func stop() async {
        await coordinator.stop()
    }
}

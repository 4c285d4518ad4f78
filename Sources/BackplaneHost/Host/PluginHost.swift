public import Backplane
import Synchronization

/// The runtime: loads the plugins of a manifest, builds its managers with their layers, and calls them.
///
/// ```swift
/// let host = PluginHost(manifest: ManifestDocument(contentsOf: "manifests/almanac.json"))
/// try await host.start()
/// let almanac = try await host.manager("AlmanacManager", as: Almanac.self)
/// print(try await almanac.on("07-20"))
/// await host.stop()
/// ```
///
/// Nothing happens before the first question: libraries are loaded once, managers start with ``start()`` or when they are
/// looked up. There is no shared instance, on purpose: pass the host. End it with ``stop()``: one that is merely released leaves
/// its components as they are, and its folder to the next host.
public final class PluginHost: Sendable {
    let coordinator: Coordinator
    /// Ready-made instances of the host program, for itself; plugins do not see them.
    public let services = ServiceRegistry()

    /// - Parameter plugins: those that are linked into this program; they come before the manifest's.
    public convenience init(manifest: ManifestDocument, plugins: [any Plugin.Type] = [], options: HostOptions = HostOptions()) {
        self.init(manifest: manifest, linked: plugins.map { LinkedPlugin($0) }, options: options)
    }

    package init(manifest: ManifestDocument, linked: [LinkedPlugin], options: HostOptions) {
        _ = MainQueue.owner
        coordinator = Coordinator(manifest, linked: linked, options)
    }

    /// The same for a manifest made in Swift.
    public convenience init(manifest: Manifest, plugins: [any Plugin.Type] = [], options: HostOptions = HostOptions()) {
        self.init(manifest: ManifestDocument(manifest), plugins: plugins, options: options)
    }

    deinit {
        coordinator.retire()
    }

    /// Everything that is wrong with the manifest and its plugins, warnings too. Starts nothing.
    public func check() async -> [Problem] {
        await coordinator.problems()
    }

    /// What the manifest in force comes to with its plugins, for tools. Starts nothing.
    package func composition() async -> Composition {
        await coordinator.composition()
    }

    /// What the plugins give for every definition of the manifest now, as its lock would have it.
    package func lock() async -> [String: LockedClass] {
        await coordinator.lock()
    }

    /// Where the manifest in force was read from; known at once, whatever goes on.
    package var manifestSource: ManifestSource { coordinator.manifestSource.value }

    /// Starts every eager manager and what it needs; independent ones start at the same time.
    ///
    /// - Parameter keepGoing: leaves what cannot be started; ``managers`` says why.
    /// - Throws: all errors of the manifest, before anything starts; or why components did not start, everything that needs none
    ///   of them being up; with `keepGoing` only `host.stopped`.
    public func start(keepGoing: Bool = false) async throws(BackplaneError) {
        try await coordinator.startAll(keepGoing: keepGoing)
    }

    /// Puts another manifest in force while the host runs: what it changes, and what depends on that, is started, stopped or made
    /// anew; everything else goes on.
    ///
    /// What the host program and other components call a manager by goes on to work: calls that come while it is made anew wait.
    /// Libraries that the manifest names for the first time are loaded, those it no longer names are not used any more.
    ///
    /// - Throws: all errors of the manifest, nothing having changed; or why components did not start, the rest being as the manifest says.
    @discardableResult
    public func apply(_ manifest: ManifestDocument) async throws(BackplaneError) -> ManifestChange {
        try await coordinator.make(.apply(manifest))
    }

    /// The same for a manifest made in Swift.
    @discardableResult
    public func apply(_ manifest: Manifest) async throws(BackplaneError) -> ManifestChange {
        try await coordinator.make(.apply(ManifestDocument(manifest)))
    }

    /// Makes one manager anew, and the layers that only it uses; calls that come meanwhile wait.
    ///
    /// - Throws: `manager.unknown`, what is wrong with it, or why it did not start again.
    @discardableResult
    public func reset(_ manager: String) async throws(BackplaneError) -> ManifestChange {
        try await coordinator.make(.reset(manager))
    }

    /// The same for everything that is up.
    @discardableResult
    public func reset() async throws(BackplaneError) -> ManifestChange {
        try await coordinator.make(.reset(nil))
    }

    /// A manager by its name in the manifest, started if it was not.
    ///
    /// - Throws: `manager.unknown`, what is wrong with it or with something it needs, `wire.mismatch` when it provides another
    ///   contract, `host.stopped`.
    public func manager<C: Contract>(_ name: String, as _: C.Type = C.self) async throws(BackplaneError) -> Remote<C> {
        if let slot = coordinator.knownSlot(to: name, as: C.self) { return Remote(slot) }
        return Remote(try await coordinator.slot(to: name, as: C.self))
    }

    /// Calls a method by name, with JSON in and out, for tools that know no contract.
    ///
    /// - Parameter input: JSON; `null` for a method that takes nothing.
    /// - Throws: as ``manager(_:as:)``, `call.unimplemented` for a method that does not exist, and whatever the call throws.
    public func call(_ manager: String, _ method: String, _ input: [UInt8], _ call: Call) async throws(BackplaneError) -> [UInt8] {
        try await coordinator.names(of: manager).call(method, input, call)
    }

    /// A call that begins here.
    public func begin(within duration: Duration? = nil) -> Call {
        Call(within: duration)
    }

    /// The managers of the manifest, by name, and how they are.
    public var managers: [ManagerStatus] {
        get async { await coordinator.statuses() }
    }

    /// Where calls of a manager meet what changes behind it.
    package func gate(of manager: String) async throws(BackplaneError) -> Gate {
        try await coordinator.gate(of: manager)
    }

    /// The wires of what is up, in the order in which their users were made, the host program's own last, and how their calls cross.
    public var wires: [WireStatus] {
        get async { await coordinator.wires() }
    }

    /// Ends everything, in the reverse order of starting. A host that has stopped stays so.
    public func stop() async {
        await coordinator.stop()
    }
}

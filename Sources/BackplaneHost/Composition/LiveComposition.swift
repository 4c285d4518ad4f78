public import Backplane

/// The active composition: its manifest, its nodes and their resources.
///
/// The composition and everything that refers to it belong to the host's serial domain, and are not used elsewhere.
final class LiveComposition {
    let options: HostOptions
    let trials: LibraryTrials
    let clock: any HostClock
    let remotes: RemoteTable
    let network: HostNetwork
    private let linked: [LinkedPlugin]
    private let watchdog: Watchdog?

    /// The manifest to load or, once it has been loaded, the loaded manifest.
    private var document: ManifestDocument
    private let source: ActiveSource
    private let routing: HostRouting
    private let screens: HostScreens
    private var loadedManifest: LoadedManifest?
    private var firstLoad: Task<Void, Never>?
    /// The folder created by a swap that loaded libraries before the manifest did.
    private var madeLoadFolder: LoadFolder?
    /// Every library that was loaded.
    var generations = GenerationTable()

    /// The nodes of the active plan, by place.
    private(set) var nodes: [LiveNode] = []
    /// The nodes of the active plan and the guests, by id.
    private(set) var nodesByID: [Int: LiveNode] = [:]
    private var lastID = 0
    /// The nodes outside the active plan, which a swap is creating or has left behind.
    private var guests: [Int: LiveNode] = [:]
    /// The gates of managers, keyed by name; the gate of a removed manager is kept while slots lead to it, because the
    /// manager may return.
    private(set) var managerGates: [String: Gate] = [:]
    /// The running nodes, in the order in which they started.
    var started: [LiveNode] = []
    /// The components that were replaced while calls were in flight, until some time after those calls end.
    private(set) var leftBehind: [RunningComponent] = []
    var wires: Wires
    var numbers = ComponentNumbers()
    /// The consumers of all components' open streams.
    let consumers = StreamConsumers()

    /// The constraints on starts of the change in progress.
    var handover: Handover?
    private(set) var isStopped = false
    /// The pauses between polls of waits without a limit.
    private var pauses: Set<UInt64> = []

    init(
        _ document: ManifestDocument, linked: [LinkedPlugin], _ options: HostOptions, clock: any HostClock,
        remotes: RemoteTable, network: HostNetwork, source: ActiveSource, routing: HostRouting, screens: HostScreens,
        watchdog: Watchdog?
    ) {
        (self.document, self.linked, self.options, self.clock, self.remotes) = (
            document, linked, options, clock, remotes
        )
        (self.network, self.source, self.watchdog) = (network, source, watchdog)
        (self.routing, self.screens) = (routing, screens)
        trials = LibraryTrials(arePossible: options.canTryLibraries, log: options.log)
        wires = Wires(options)
    }

    /// Marks the host as stopped, and ends the waits without a limit.
    func stop() {
        isStopped = true
        for pause in pauses { clock.polls.endPause(pause) }
    }

    func requireRunning() throws(BackplaneError) {
        if isStopped { throw .hostHasStopped }
    }

    /// Polls until the condition holds, the limit passes or the host stops; returns whether the condition holds.
    ///
    /// The first polls are close together, because most calls end within a microsecond.
    func drained(_ limit: Duration, _ isThere: () -> Bool) async -> Bool {
        if Drain.looks(isThere) { return true }
        return await clock.waits(limit) { isThere() || isStopped } && isThere()
    }

    /// Polls until the condition holds or the host stops, at growing intervals, because no other work depends on it.
    ///
    /// Calls may never end, and the end of a native call signals nothing.
    func waits(for isThere: () -> Bool) async {
        var interval = Duration.milliseconds(1)
        while !isThere(), !isStopped {
            let pause = Callbacks.newID()
            pauses.insert(pause)
            await clock.polls.pause(interval, pause)
            pauses.remove(pause)
            interval = min(interval * 2, .seconds(1))
        }
    }

    /// Logs a message about a component.
    ///
    /// - Parameters:
    ///   - methods: The methods to which the message refers.
    ///   - timers: The timers to which the message refers.
    func log(
        _ level: Log.Level, _ message: String, _ component: RunningComponent, _ error: BackplaneError? = nil,
        methods: [String] = [], timers: [String] = []
    ) {
        guard options.log.isEnabled(level) else { return }
        var metadata = ["component": component.name, "role": "\(component.node.role)"]
        if !methods.isEmpty { metadata["methods"] = methods.joined(separator: ", ") }
        if !timers.isEmpty { metadata["timers"] = timers.joined(separator: ", ") }
        metadata["error"] = error?.description
        options.log.report(level, message, metadata)
    }
}

extension LiveComposition {
    /// Keeps a component that is not stopped because it has calls in flight; when the host stops, they are answered.
    func leaveBehind(_ component: RunningComponent) {
        if isStopped { return component.endCalls() }
        leftBehind.removeAll { !$0.hasCalls }
        leftBehind.append(component)
    }
}

extension LiveComposition {
    /// The active manifest with its plugins, which must have been loaded.
    var loaded: LoadedManifest {
        guard let loadedManifest else { preconditionFailure("the manifest is loaded before it is used") }
        return loadedManifest
    }

    var isLoaded: Bool { loadedManifest != nil }

    /// Loads the manifest and its plugins on first use.
    func load(in domain: isolated (any Actor)? = #isolation) async {
        guard !isLoaded else { return }
        if let firstLoad { return await firstLoad.value }
        let task = Task {
            _ = domain
            let new = await read(document, trust: false)
            activate(new, keeping: [:])
            if isStopped { new.loadFolder?.remove() }
        }
        firstLoad = task
        await task.value
    }

    /// Loads the libraries of another manifest that are not loaded yet, without changing the composition.
    ///
    /// - Parameter trust: Whether to load libraries without a trial in a child process.
    /// - Throws: `host.stopped` if the host has stopped in the meantime.
    func load(_ document: ManifestDocument, trust: Bool) async throws(BackplaneError) -> LoadedManifest {
        let manifest = await read(document, trust: trust)
        // Loaded code stays in memory even if it does not become active; known plugins keep their state.
        let fresh = manifest.plugins(besides: loaded).filter { generations.entry(of: $0) == nil }
        generations.add(fresh, .loaded)
        if isStopped, loadFolder == nil { manifest.loadFolder?.remove() }
        try requireRunning()
        return manifest
    }

    /// Loads the libraries of a manifest on a separate thread, so that the host serves everything else in the meantime.
    private func read(_ document: ManifestDocument, trust: Bool) async -> LoadedManifest {
        let rule = options.trials
        let trials = !trust && (rule == .always || rule == .whileRunning && isLoaded) ? trials : nil
        let load = {
            @Sendable [linked, options, generations, loadedManifest, loadFolder, clock, network] () -> LoadedManifest in
            let loader = PluginLoader(
                document, linked, options, generations, after: loadedManifest?.plugins ?? [], in: loadFolder,
                trying: trials, by: clock)
            return LoadedManifest(
                loader, serialize: network.managers.serialize, pinProblems: network.pinProblems(of: document))
        }
        return await withUnsafeContinuation { continuation in
            if !HostThread.launch({ continuation.resume(returning: load()) }) { continuation.resume(returning: load()) }
        }
    }

    /// The folder of library copies, created with the first library.
    var loadFolder: LoadFolder? { madeLoadFolder ?? loadedManifest?.loadFolder }

    func requireLoadFolder() throws(BackplaneError) -> LoadFolder {
        if let loadFolder { return loadFolder }
        let folder = try LoadFolder(in: options.loadFolder)
        madeLoadFolder = folder
        return folder
    }

    /// Activates a manifest.
    ///
    /// - Parameters:
    ///   - kept: The new place of each node that stays, keyed by its old place.
    ///   - placed: The nodes that already exist, by their new places.
    func activate(_ new: LoadedManifest, keeping kept: [Int: Int], placing placed: [Int: LiveNode] = [:]) {
        var staying = placed
        for (old, place) in kept { staying[place] = nodes[old] }
        activate(new, new.plan.nodes.map { staying[$0.id] ?? makeNode($0) })
    }

    /// Activates a manifest with the given nodes.
    ///
    /// - Parameter nodes: The nodes by their places in the manifest's plan.
    func activate(_ new: LoadedManifest, _ nodes: [LiveNode]) {
        for (live, node) in zip(nodes, new.plan.nodes) { live.node = node }
        nameGates(of: nodes)
        lead(exchangesOf: nodes, by: new)
        self.nodes = nodes
        nodesByID = guests
        for node in nodes { nodesByID[node.id] = node }
        dropUnusedGates()
        (document, loadedManifest) = (new.document, new)
        source.value = new.document.source
        routing.publish(new.plan, nodes, new.document)
        screens.publish(new.plan, new.document.manifest.screens)
        // A swap may still revert the generation that it activates.
        generations.activate(new.plugins, isForGood: handover == nil)
        watchdog?.start(watched)
    }

    /// Returns whether a manifest is the active one, possibly with other code.
    func isActive(_ manifest: LoadedManifest) -> Bool { loadedManifest?.reading === manifest.reading }

    /// Routes the exchanges of components by the new manifest, and those of leaving components by their own manifest.
    private func lead(exchangesOf nodes: [LiveNode], by new: LoadedManifest) {
        guard loadedManifest != nil, !isActive(new) else { return }
        func exchanges(of node: LiveNode) -> Exchanges? {
            node.callable.flatMap { ComponentHandles.find($0.handle)?.exchanges }
        }
        let staying = Set(nodes.map(\.id)), former = network.active
        for node in self.nodes where !staying.contains(node.id) { exchanges(of: node)?.follow(former) }
        network.follow(new.document)
        for node in nodes { exchanges(of: node)?.follow(nil) }
    }

    /// Registers the gates of renamed managers under their new names; a reused former name has a gate of its own.
    private func nameGates(of nodes: [LiveNode]) {
        let renamed = nodes.filter { $0.node.role == .manager && managerGates[$0.node.name] !== $0.gate }
        guard !renamed.isEmpty else { return }
        let gates = Set(renamed.map { ObjectIdentifier($0.gate) })
        managerGates = managerGates.filter { !gates.contains(ObjectIdentifier($0.value)) }
        for node in renamed { managerGates[node.node.name] = node.gate }
    }

    /// Drops the gates of managers that have no node, and to which no slot leads.
    private func dropUnusedGates() {
        let used = Set(nodesByID.values.map { ObjectIdentifier($0.gate) })
        managerGates = managerGates.filter { used.contains(ObjectIdentifier($0.value)) || $0.value.isInUse }
    }

    /// The components of the active plan, for the watchdog.
    var watched: [WatchedComponent] {
        guard let loadedManifest else { return [] }
        return nodes.map { current in
            WatchedComponent(
                id: ObjectIdentifier(current.gate), name: current.node.name,
                plugin: loadedManifest.plugins[current.node.entry.order].name,
                callsInFlight: { [gate = current.gate] in gate.callsUnderWay })
        }
    }

    /// Frees the disk space of inactive plugins' symbols, which may be larger than the code.
    func giveRoomBack(of plugins: [LoadedPlugin]) {
        let bulky = plugins.filter { !$0.unmapped.isEmpty }
        guard !bulky.isEmpty else { return }
        // A file system may take long; if no thread can be started, the copies remain unchanged.
        _ = HostThread.tryStart("bp-copies") {
            for plugin in bulky { if let copy = plugin.copy { LoadFolder.giveRoomBack(plugin.unmapped, of: copy) } }
        }
    }

    /// Records that the activation of plugins was reverted.
    func takeOut(_ plugins: [LoadedPlugin], afterProbation: Bool = false) {
        for plugin in plugins { generations.takeOut(plugin, afterProbation: afterProbation) }
        giveRoomBack(of: plugins)
    }
}

extension LiveComposition {
    /// Creates a node with an id of its own.
    ///
    /// - Parameter gate: The gate of the node that it replaces; `nil` for the gate of an earlier manager of the same
    ///   name, or a new gate.
    func makeNode(_ node: Plan.Node, gate: Gate? = nil) -> LiveNode {
        lastID += 1
        if let gate { return LiveNode(id: lastID, node, gate: gate) }
        guard node.role == .manager else {
            return LiveNode(id: lastID, node, gate: Gate(clock: clock, waitingLimit: options.waitingLimit))
        }
        let gate = managerGates[node.name] ?? Gate(clock: clock, waitingLimit: options.waitingLimit)
        managerGates[node.name] = gate
        return LiveNode(id: lastID, node, gate: gate)
    }

    /// Registers a node outside the active plan while it is created or until it is retired.
    func admit(_ node: LiveNode) {
        guests[node.id] = node
        nodesByID[node.id] = node
    }

    func dismiss(_ node: LiveNode) {
        guests[node.id] = nil
        if !nodes.contains(where: { $0 === node }) { nodesByID[node.id] = nil }
    }

    /// Replaces nodes in the start order, except with nodes that are already part of it.
    func replaceStarted(_ pairs: [(old: LiveNode?, new: LiveNode)]) {
        var places = Dictionary(started.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        for (old, new) in pairs where places[new.id] == nil {
            if let old, let place = places.removeValue(forKey: old.id) {
                started[place] = new
                places[new.id] = place
            } else {
                places[new.id] = started.count
                started.append(new)
            }
        }
    }

    /// Returns whether the node's component is not running, and a change has removed it or keeps it from starting.
    func isBarred(_ node: LiveNode) -> Bool {
        switch node.state {
        case .stopped: true
        case .resolved, .starting, .failed, .unsatisfied: handover?.withheld.contains(node.id) ?? false
        case .ready, .quiescing: false
        }
    }

    /// Returns whether the node can no longer start, although another node may replace it.
    func isGone(_ node: LiveNode) -> Bool { node.isStopping || isBarred(node) && node.startUnderWay == nil }

    /// Permanently refuses all calls, including waiting calls and those to managers that are not running.
    func closeGates() {
        for gate in managerGates.values { gate.close() }
        for node in nodes { node.gate.close() }
    }
}

extension LiveComposition {
    var managersUp: Set<String> {
        Set(nodes.lazy.filter { $0.node.role == .manager && $0.running != nil }.map(\.node.name))
    }

    /// The managers of the manifest and their states, sorted by name.
    var statuses: [ManagerStatus] {
        let loaded = loaded, plan = loaded.plan
        let sound = plan.managers.map { name, place in
            let entry = plan.nodes[place].entry
            return ManagerStatus(
                name: name, state: nodes[place].state.status, className: entry.component.className,
                version: entry.component.version, plugin: entry.plugin)
        }
        let faulty = plan.faults.map { name, error in
            ManagerStatus(
                name: name, state: .unsatisfied(error),
                className: loaded.document.manifest.managers[name].map { $0.className ?? name })
        }
        return (sound + faulty).sorted { $0.name < $1.name }
    }

    /// Returns the call counts of every component that is running.
    ///
    /// - Parameter retired: Replaced instances that have not ended, whose calls are in flight as well.
    func statistics(_ retired: [Retirement]) -> [ComponentStatistics] {
        guard isLoaded else { return [] }
        return nodes.compactMap { current in
            guard let component = current.callable else { return nil }
            let node = current.node, gate = component.gate
            let outlasting = retired.filter {
                $0.component.node.name == node.name && $0.component.node.managers == node.managers
            }
            let (timers, count) = component.timers.statistics(limit: ComponentStatistics.timersShown)
            return ComponentStatistics(
                component: node.name, role: "\(node.role)", managers: node.managers, plugin: node.entry.plugin,
                generation: generations.number(of: component.plugin), calls: gate.callsBegun,
                errors: gate.failuresEnded + component.failures,
                inFlight: gate.callsInFlight + gate.callsAside + outlasting.reduce(0) { $0 + $1.callsInFlight },
                waiting: gate.callsWaiting,
                streams: component.streams.statistics, timers: timers, timerCount: count,
                exchanges: gate.exchanges.statistics,
                latency: component.calls.latency, lastFailure: component.lastFailure ?? gate.lastFailureEnded)
        }
    }
}

extension LiveNode.State {
    fileprivate var status: ManagerState {
        switch self {
        case .resolved: .resolved
        case .starting: .starting
        case .ready: .ready
        case .quiescing: .quiescing
        case .stopped: .stopped
        case .failed(let error, _): .failed(error)
        case .unsatisfied(let error, _): .unsatisfied(error)
        }
    }
}

extension LiveComposition {
    /// Ends the streams that a component has opened, because it is being suspended or stopped.
    ///
    /// The component's own streams are interrupted first, and refused until it is resumed. Otherwise their bodies,
    /// which may read the streams that end, would fail with the error of those streams.
    func endStreams(openedBy component: RunningComponent) {
        // 0 is the host program.
        guard component.number != 0 else { return }
        let offered = ComponentHandles.find(component.handle), number = component.number
        let providers = consumers.have(number) ? nodesByID.values.compactMap { $0.callable?.streams } : []
        guard !providers.isEmpty || offered?.hasStreams == true else { return }
        // The streams are determined now: when they end, the component may have been resumed, or another one may have
        // its number.
        let ends = providers.map { $0.ending(openedBy: number, .askerStopped) }
        let endOffered = offered?.endingStreams(.askerStopped)
        component.streams.interrupt(isStopped ? .hostHasStopped : .streamInterrupted) {
            for end in ends { end() }
            endOffered?()
        }
    }
}

/// A manager of the manifest and its current state.
public struct ManagerStatus: Sendable, Hashable {
    /// The manager's name in the manifest.
    public var name: String
    /// The manager's current state.
    public var state: ManagerState
    /// The manager's class, taken from the manifest if no plugin provides it; `nil` if the manifest names none.
    public var className: String?
    /// The version of the class, or `nil` if no plugin provides it.
    public var version: Version?
    /// The id of the plugin that provides the class, or `nil` if none does.
    public var plugin: String?
}

/// The stages of a manager's lifecycle.
public enum ManagerState: Sendable, Hashable {
    /// Everything that the manager needs is present, but the manager has not been started.
    case resolved
    /// The manager is being created and activated.
    case starting
    /// The manager accepts calls.
    case ready
    /// The manager accepts no more calls, and stops once those in flight have ended.
    case quiescing
    /// The manager has stopped.
    case stopped
    /// The manager lacks something in the manifest or the plugins, or a manager that it uses did not start.
    case unsatisfied(BackplaneError)
    /// The manager, or one of its collaborators, did not start.
    case failed(BackplaneError)
}

extension ManagerState: CustomStringConvertible {
    /// The state's name, without the reason.
    public var description: String {
        switch self {
        case .resolved: "resolved"
        case .starting: "starting"
        case .ready: "ready"
        case .quiescing: "quiescing"
        case .stopped: "stopped"
        case .unsatisfied: "unsatisfied"
        case .failed: "failed"
        }
    }
}

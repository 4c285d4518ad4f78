import Backplane
import BackplaneBoundary

/// The active composition: its manifest, its nodes and their resources.
///
/// It belongs to the host's serial domain, as does everything that refers to it, and is not used elsewhere.
final class LiveComposition {
    let options: LifecycleOptions
    let clock: any HostClock
    let remotes: RemoteTable
    private let network: HostNetwork
    private let linked: [LinkedPlugin]
    private let watchdog: Watchdog?

    /// The manifest to load or, once it has been loaded, the loaded manifest.
    private var document: ManifestDocument
    private let source: ActiveSource
    private var loadedManifest: LoadedManifest?
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
    /// The gates of managers, keyed by name; the gate of a removed manager is kept because the manager may return.
    private var managerGates: [String: Gate] = [:]
    /// The running nodes, in the order in which they started.
    var started: [LiveNode] = []
    /// The components that were replaced before their calls had ended.
    private var leftBehind: [RunningComponent] = []
    var connections: Connections
    var numbers = ComponentNumbers()
    /// The consumers of all components' open streams.
    let consumers = StreamConsumers()

    /// The task that stops components for a change; their successors start after it.
    var pause: Task<Void, Never>?
    /// The constraints on starts of the swap in progress.
    var handover: Handover?
    private(set) var isStopped = false
    /// The pauses between polls of waits without a limit.
    private var pauses: Set<UInt64> = []

    init(
        _ document: ManifestDocument, linked: [LinkedPlugin], _ options: LifecycleOptions, clock: any HostClock,
        remotes: RemoteTable, network: HostNetwork, source: ActiveSource, watchdog: Watchdog?
    ) {
        (self.document, self.linked, self.options, self.clock, self.remotes) = (
            document, linked, options, clock, remotes
        )
        (self.network, self.source, self.watchdog) = (network, source, watchdog)
        connections = Connections(options)
    }

    /// Marks the host as stopped, and ends the waits without a limit.
    func stop() {
        isStopped = true
        for pause in pauses { clock.polls.endPause(pause) }
    }

    func requireRunning() throws(BackplaneError) {
        if isStopped { throw .hostHasStopped }
    }

    /// Waits until no component is being stopped for a change.
    func settle() async {
        while let pause { await pause.value }
    }

    /// Polls until the condition holds, the limit passes or the host stops; returns whether the condition holds.
    ///
    /// The first polls are close together, because most calls end within a microsecond.
    func drained(_ limit: Duration, _ isThere: () -> Bool) async -> Bool {
        if Drain.looks(isThere) { return true }
        return await clock.waits(limit) { isThere() || isStopped } && isThere()
    }

    /// Polls until the condition holds or the host stops, at growing intervals, because nothing waits for it.
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
        options.log.write(LogRecord(level: level, source: "host", message: message, metadata: metadata))
    }
}

// MARK: Components that do not end

extension LiveComposition {
    /// Keeps a component that is not stopped because it has calls in flight; when the host stops, they are answered.
    func leaveBehind(_ component: RunningComponent) {
        if isStopped { component.endCalls() } else { leftBehind.append(component) }
    }

    /// Answers all calls to components that were left behind.
    func endCallsLeftBehind() {
        for component in leftBehind { component.endCalls() }
    }
}

// MARK: Manifest

extension LiveComposition {
    /// The active manifest with its plugins, which are loaded on first use.
    var loaded: LoadedManifest {
        if let loadedManifest { return loadedManifest }
        let new = loading(document, trust: false)()
        activate(new, keeping: [:])
        if isStopped { new.loadFolder?.remove() }
        return new
    }

    /// Loads the libraries of a manifest that are not loaded yet, without changing the composition.
    ///
    /// The libraries are loaded on a separate thread, so that the host serves everything else in the meantime.
    ///
    /// - Parameter trust: Whether to load libraries without a trial in a child process.
    /// - Throws: `host.stopped` if the host has stopped in the meantime.
    func load(_ document: ManifestDocument, trust: Bool) async throws(BackplaneError) -> LoadedManifest {
        let load = loading(document, trust: trust)
        let manifest = await withUnsafeContinuation { continuation in
            if !HostThread.launch({ continuation.resume(returning: load()) }) { continuation.resume(returning: load()) }
        }
        // Loaded code stays in memory even if it does not become active; known plugins keep their state.
        let fresh = manifest.plugins(besides: loaded).filter { generations.entry(of: $0) == nil }
        generations.add(fresh, .loaded)
        if isStopped, loadFolder == nil { manifest.loadFolder?.remove() }
        try requireRunning()
        return manifest
    }

    /// Returns a function that loads the libraries of a manifest.
    private func loading(_ document: ManifestDocument, trust: Bool) -> @Sendable () -> LoadedManifest {
        let rule = options.loading.trials.rule
        let tries = !trust && (rule == .always || rule == .whileRunning && loadedManifest != nil)
        return { [linked, options, generations, loadedManifest, loadFolder] in
            LoadedManifest(
                document, linked: linked, options.loading, generations, after: loadedManifest, in: loadFolder,
                triesLibraries: tries)
        }
    }

    /// The folder of library copies, created with the first library.
    var loadFolder: LoadFolder? { madeLoadFolder ?? loadedManifest?.loadFolder }

    func requireLoadFolder() throws(BackplaneError) -> LoadFolder {
        if let loadFolder { return loadFolder }
        let folder = try LoadFolder(in: options.loading.folder)
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
        (document, loadedManifest) = (new.document, new)
        source.value = new.document.source
        // A swap may take back the generation that it activates.
        generations.activate(new.plugins, isForGood: handover == nil)
        watchdog?.start(watched)
    }

    /// Returns whether a manifest is the active one, possibly with other code.
    func isActive(_ manifest: LoadedManifest) -> Bool { loadedManifest?.reading === manifest.reading }

    /// Routes the exchanges of components according to the new manifest, and those of leaving components according to
    /// theirs.
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

    /// The components of the active plan, for the watchdog.
    var watched: [WatchedComponent] {
        guard let loadedManifest else { return [] }
        return nodes.map { current in
            let plugin = loadedManifest.plugins[current.node.entry.order], description = plugin.description
            return WatchedComponent(
                id: ObjectIdentifier(current.gate), name: current.node.name,
                plugin: plugin.image?.description
                    ?? "\(description.id) \(description.version), \(plugin.path ?? "linked into this program")",
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

// MARK: Nodes

extension LiveComposition {
    /// Creates a node with an id of its own.
    ///
    /// - Parameter gate: The gate of the node that it replaces; `nil` for that of an earlier manager of the same name,
    ///   or a new one.
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
        for (old, new) in pairs where !started.contains(where: { $0 === new }) {
            if let old, let index = started.firstIndex(where: { $0 === old }) {
                started[index] = new
            } else {
                started.append(new)
            }
        }
    }

    /// Waits until no node that a change removes is starting, and then keeps those that are not running from starting.
    func remove(_ leaving: [LiveNode]) async {
        // A component that is starting may look up others, so it has to finish before any of them is removed.
        while let start = leaving.lazy.compactMap(\.startUnderWay).first { _ = await start.value }
        for node in leaving where node.running == nil { node.state = .removed(node.state) }
    }

    /// Returns whether the node's component is not running, and a change has removed it or keeps it from starting.
    func isBarred(_ node: LiveNode) -> Bool {
        switch node.state {
        case .removed, .stopped: true
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

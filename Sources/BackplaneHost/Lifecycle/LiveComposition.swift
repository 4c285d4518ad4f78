import Backplane
import BackplaneBoundary

/// The composition in force: its manifest, its nodes, and what those have while they live.
///
/// It belongs to the host's serial domain, as everything does that holds it: nothing of it is used from elsewhere.
final class LiveComposition {
    let options: LifecycleOptions
    let timer: DeadlineTimer
    let remotes: RemoteTable
    private let linked: [LinkedPlugin]
    private let watchdog: Watchdog?

    /// What to load; once that has happened, what was loaded.
    private var document: ManifestDocument
    private let source: SourceInForce
    private var loadedManifest: LoadedManifest?
    /// Where only a swap has loaded libraries yet.
    private var madeLoadFolder: LoadFolder?
    /// Every library that was loaded.
    var generations = GenerationTable()

    /// The nodes of the plan in force, by their places in it.
    private(set) var nodes: [LiveNode] = []
    /// The same, and the guests, by their ids.
    private(set) var nodesByID: [Int: LiveNode] = [:]
    private var lastID = 0
    /// Nodes that are not in the plan in force: those that are being made for a swap, or left behind by one.
    private var guests: [Int: LiveNode] = [:]
    /// A manager's gate stays when the manager goes, since it may come again.
    private var managerGates: [String: Gate] = [:]
    /// In the order in which they came up.
    var started: [LiveNode] = []
    var connections: Connections
    var numbers = ComponentNumbers()

    /// Components are being stopped for a change: what takes their places starts after that.
    var pause: Task<Void, Never>?
    /// What starts have to know of the swap that is under way.
    var handover: Handover?
    /// The host stops, or has stopped.
    var isStopped = false

    init(
        _ document: ManifestDocument, linked: [LinkedPlugin], _ options: LifecycleOptions, timer: DeadlineTimer, remotes: RemoteTable, source: SourceInForce,
        watchdog: Watchdog?
    ) {
        (self.document, self.linked, self.options, self.timer, self.remotes) = (document, linked, options, timer, remotes)
        (self.source, self.watchdog) = (source, watchdog)
        connections = Connections(options)
    }

    func requireRunning() throws(BackplaneError) {
        if isStopped { throw .hostHasStopped }
    }

    /// Waits until no component is being stopped for a change.
    func settle() async {
        while let pause { await pause.value }
    }

    /// Waits for what nobody tells of: looks a few times at once, since most calls are over within a microsecond, and then now and then,
    /// for as long as the host runs.
    func drained(_ limit: Duration, _ isThere: () -> Bool) async -> Bool {
        if Drain.looks(isThere) { return true }
        return await timer.waits(limit) { isThere() || isStopped } && isThere()
    }

    func log(_ level: Log.Level, _ message: String, _ component: RunningComponent, _ error: BackplaneError? = nil) {
        guard options.log.isEnabled(level) else { return }
        var metadata = ["component": component.name, "role": "\(component.node.role)"]
        metadata["error"] = error?.description
        options.log.write(LogRecord(level: level, source: "host", message: message, metadata: metadata))
    }
}

// MARK: The manifest

extension LiveComposition {
    /// The manifest in force and what it loaded, which happens when it is first asked for.
    var loaded: LoadedManifest {
        if let loadedManifest { return loadedManifest }
        let new = load(document)
        putInForce(new, keeping: [:])
        if isStopped { new.loadFolder?.remove() }
        return new
    }

    /// Loads what a manifest names and what is not loaded yet; changes nothing.
    func load(_ document: ManifestDocument) -> LoadedManifest {
        LoadedManifest(document, linked: linked, options.loading, generations, after: loadedManifest, in: loadFolder)
    }

    /// Made with the first library.
    var loadFolder: LoadFolder? { madeLoadFolder ?? loadedManifest?.loadFolder }

    func requireLoadFolder() throws(BackplaneError) -> LoadFolder {
        if let loadFolder { return loadFolder }
        let folder = try LoadFolder(in: options.loading.folder)
        madeLoadFolder = folder
        return folder
    }

    /// - Parameters:
    ///   - kept: the new place of each node that stays, by its old place.
    ///   - placed: nodes that are made already, by their new places.
    func putInForce(_ new: LoadedManifest, keeping kept: [Int: Int], placing placed: [Int: LiveNode] = [:]) {
        var staying = placed
        for (old, place) in kept { staying[place] = nodes[old] }
        putInForce(new, new.plan.nodes.map { staying[$0.id] ?? makeNode($0) })
    }

    /// - Parameter nodes: by their places in the manifest's plan.
    func putInForce(_ new: LoadedManifest, _ nodes: [LiveNode]) {
        for (live, node) in zip(nodes, new.plan.nodes) { live.node = node }
        self.nodes = nodes
        nodesByID = guests
        for node in nodes { nodesByID[node.id] = node }
        (document, loadedManifest) = (new.document, new)
        source.value = new.document.source
        // What a swap puts in force it may take back.
        generations.putInForce(new.plugins, isForGood: handover == nil)
        watchdog?.start(watched)
    }

    /// The components of the plan in force, for the watchdog.
    private var watched: [WatchedComponent] {
        guard let loadedManifest else { return [] }
        return nodes.map { current in
            let plugin = loadedManifest.plugins[current.node.entry.order], description = plugin.description
            return WatchedComponent(
                id: ObjectIdentifier(current.gate), name: current.node.name,
                plugin: plugin.image?.description ?? "\(description.id) \(description.version), linked into this program",
                callsInFlight: { [gate = current.gate] in gate.callsUnderWay })
        }
    }

    /// What is not in force needs no symbols, which may take more room than its code.
    func giveRoomBack(of plugins: [LoadedPlugin]) {
        let bulky = plugins.filter { !$0.unmapped.isEmpty }
        guard !bulky.isEmpty else { return }
        // A file system may take its time; where there is no thread the copies stay as they are.
        _ = HostThread.tryStart("bp-copies") {
            for plugin in bulky { if let copy = plugin.copy { LoadFolder.giveRoomBack(plugin.unmapped, of: copy) } }
        }
    }

    /// Notes of plugins that they are not in force after all.
    func takeOut(_ plugins: [LoadedPlugin], afterProbation: Bool = false) {
        for plugin in plugins { generations.takeOut(plugin, afterProbation: afterProbation) }
        giveRoomBack(of: plugins)
    }
}

// MARK: Its nodes

extension LiveComposition {
    /// - Parameter gate: of the one whose place it takes.
    func makeNode(_ node: Plan.Node, gate: Gate? = nil) -> LiveNode {
        lastID += 1
        guard node.role == .manager else { return LiveNode(id: lastID, node, gate: gate ?? Gate(timer: timer)) }
        let gate = managerGates[node.name] ?? Gate(timer: timer)
        managerGates[node.name] = gate
        return LiveNode(id: lastID, node, gate: gate)
    }

    /// Has a node be known that is not in the plan in force, while it is made or until it is given up.
    func admit(_ node: LiveNode) {
        guests[node.id] = node
        nodesByID[node.id] = node
    }

    func dismiss(_ node: LiveNode) {
        guests[node.id] = nil
        if !nodes.contains(where: { $0 === node }) { nodesByID[node.id] = nil }
    }

    /// In the order of starting one stands where the other stood; one that stands there already stays.
    func replaceStarted(_ pairs: [(old: LiveNode?, new: LiveNode)]) {
        for (old, new) in pairs where !started.contains(where: { $0 === new }) {
            if let old, let index = started.firstIndex(where: { $0 === old }) { started[index] = new } else { started.append(new) }
        }
    }

    /// A change that is under way takes it out of the plan, or has nobody start it meanwhile.
    func leaves(_ node: LiveNode) -> Bool {
        node.leaves || handover?.withheld.contains(node.id) ?? false
    }

    /// It does not come up any more: another one takes its place, perhaps.
    func isGone(_ node: LiveNode) -> Bool {
        node.isStopping || leaves(node) && node.running == nil && node.startUnderWay == nil
    }

    /// Lets no call in for ever, and refuses all that wait: also of managers that are not up.
    func closeGates() {
        for gate in managerGates.values { gate.close() }
        for node in nodes { node.gate.close() }
    }
}

import Backplane
import Synchronization

/// Loads, starts, changes and stops: the one serial domain of a host, on a thread of its own.
actor Coordinator {
    let options: HostOptions
    let timer = DeadlineTimer()
    let starter: ComponentStarter
    nonisolated let remotes = RemoteTable()
    private let linked: [LinkedPlugin]
    private let watchdog: Watchdog?
    nonisolated let executor = ThreadExecutor(name: "bp-coordinator")

    /// What to load; once that has happened, what was loaded.
    private var document: ManifestDocument
    /// Where the manifest in force is from, for those who cannot wait for this actor.
    nonisolated let manifestSource: Mutex<ManifestSource>
    private var loadedManifest: LoadedManifest?
    /// The nodes of the plan in force, by their places in it.
    private(set) var nodes: [LiveNode] = []
    /// The same by their ids.
    private(set) var nodesByID: [Int: LiveNode] = [:]
    private var lastID = 0
    /// Where only a swap has loaded libraries yet.
    private var madeLoadFolder: LoadFolder?
    /// Nodes that are not in the plan in force: those that are being made for a swap, or left behind by one.
    private var guests: [Int: LiveNode] = [:]
    /// A manager's gate stays when the manager goes, since it may come again.
    private var managerGates: [String: Gate] = [:]

    var connections: Connections
    /// The host program's calls by name, by manager.
    var namedWires: [String: ServedWire] = [:]
    var numbers = ComponentNumbers()
    /// In the order in which they came up.
    var started: [LiveNode] = []
    var lastAttempt: LiveNode.Attempt = 0
    /// Look-ups that components wait for, by numbers of their own.
    var lookUps: [Int: LookUp] = [:]
    var lastLookUp = 0
    /// Every library that was loaded.
    var generations = GenerationTable()
    var linkedSwaps = 0
    /// The swap that is under way.
    var swapUnderWay: SwapUnderWay?
    /// What swaps left behind and is not over: calls in old instances, and their end.
    var retirements = Retirements()
    /// The handles of those whose step a swap gave up, and that are resumed once they have come back from it.
    var resumptions: Set<UInt64> = []
    /// The managers that a change stopped and did not bring up again, though it should have.
    var owed: Set<String> = []
    /// Everything that is eager was asked to start.
    var hasStartedAll = false
    /// A change of the manifest, a reset or a swap is under way, and others wait for their turn.
    var isInTurn = false
    var turns: [Turn] = []
    /// Components are being stopped for a change: what takes their places starts after that.
    var pause: Task<Void, Never>?
    var stopping: Task<Void, Never>?
    var isStopped: Bool { stopping != nil }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ document: ManifestDocument, linked: [LinkedPlugin], _ options: HostOptions) {
        (self.document, self.linked, self.options) = (document, linked, options)
        manifestSource = Mutex(document.source)
        connections = Connections(options)
        if options.namesCrashes { LastWords.keep() }
        watchdog = options.occupationLimit.map { Watchdog(limit: $0, log: options.log) }
        let files = FileExecutor(folder: document.path.map { FilePath.folder(of: FilePath.absolute($0)) })
        let dataFolder = { @Sendable () throws(BackplaneError) in
            try DataFolder(in: options.dataFolder, manifest: document.path ?? "unnamed")
        }
        let store = HostStore {
            try options.openStore(dataFolder().storeFolder()) { error in
                options.log.write(LogRecord(level: .error, source: "host", message: "the store was repaired", metadata: ["error": error.description]))
            }
        }
        starter = ComponentStarter(
            options: options, timer: timer, executors: [files] + options.executors, store: store, dataFolder: dataFolder)
    }

    /// Lets the host's threads end once they have nothing left to do.
    nonisolated func retire() {
        executor.retire()
        timer.retire()
        watchdog?.retire()
    }

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
        LoadedManifest(document, linked: linked, options, generations, after: loadedManifest, in: loadFolder)
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
        manifestSource.withLock { $0 = new.document.source }
        generations.putInForce(new.plugins, isForGood: swapUnderWay == nil)
        watchdog?.start(generations.images)
    }

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

    /// Made with the first library.
    var loadFolder: LoadFolder? {
        get { madeLoadFolder ?? loadedManifest?.loadFolder }
        set { madeLoadFolder = newValue }
    }

    func problems() -> [Problem] { loaded.problems }

    func wires() -> [WireStatus] { connections.statuses }

    func requireRunning() throws(BackplaneError) {
        if isStopped { throw .hostHasStopped }
    }

    /// Waits until no component is being stopped for a change.
    func settle() async {
        while let pause { await pause.value }
    }

    /// Lets no call in for ever, and refuses all that wait: also of managers that are not up.
    func closeGates() {
        for gate in managerGates.values { gate.close() }
        for node in nodes { node.gate.close() }
    }

    func log(_ level: Log.Level, _ message: String, _ component: RunningComponent, _ error: BackplaneError? = nil) {
        guard options.log.isEnabled(level) else { return }
        var metadata = ["component": component.name, "role": "\(component.node.role)"]
        metadata["error"] = error?.description
        options.log.write(LogRecord(level: level, source: "host", message: message, metadata: metadata))
    }
}

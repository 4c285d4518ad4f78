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
    private nonisolated let executor = ThreadExecutor(name: "bp-coordinator")

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
    /// A manager's gate stays when the manager goes, since it may come again.
    private var managerGates: [String: Gate] = [:]

    var connections: Connections
    var numbers = ComponentNumbers()
    /// In the order in which they came up.
    var started: [LiveNode] = []
    var lastAttempt: LiveNode.Attempt = 0
    /// Look-ups that components wait for, by numbers of their own.
    var lookUps: [Int: LookUp] = [:]
    var lastLookUp = 0
    /// The managers that a change stopped and did not bring up again, though it should have.
    var owed: Set<String> = []
    /// Everything that is eager was asked to start.
    var hasStartedAll = false
    /// The last change of the manifest, or reset: one comes after the other.
    var lastChange: Task<Void, Never>?
    /// Components are being stopped for a change: what takes their places starts after that.
    var pause: Task<Void, Never>?
    var stopping: Task<Void, Never>?
    var isStopped: Bool { stopping != nil }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ document: ManifestDocument, linked: [LinkedPlugin], _ options: HostOptions) {
        (self.document, self.linked, self.options) = (document, linked, options)
        manifestSource = Mutex(document.source)
        connections = Connections(options)
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
        LoadedManifest(document, linked: linked, options, after: loadedManifest)
    }

    /// - Parameter kept: the new place of each node that stays, by its old place.
    func putInForce(_ new: LoadedManifest, keeping kept: [Int: Int]) {
        var staying: [Int: LiveNode] = [:]
        for (old, place) in kept { staying[place] = nodes[old] }
        nodes = new.plan.nodes.map { node in
            let live = staying[node.id] ?? makeNode(node)
            live.node = node
            return live
        }
        nodesByID = Dictionary(uniqueKeysWithValues: nodes.map { ($0.id, $0) })
        (document, loadedManifest) = (new.document, new)
        manifestSource.withLock { $0 = new.document.source }
        watchdog?.start(new.images)
    }

    private func makeNode(_ node: Plan.Node) -> LiveNode {
        lastID += 1
        guard node.role == .manager else { return LiveNode(id: lastID, node, gate: Gate(timer: timer)) }
        let gate = managerGates[node.name] ?? Gate(timer: timer)
        managerGates[node.name] = gate
        return LiveNode(id: lastID, node, gate: gate)
    }

    var loadFolder: LoadFolder? { loadedManifest?.loadFolder }

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

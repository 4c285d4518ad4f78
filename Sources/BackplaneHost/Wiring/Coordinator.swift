import Backplane

/// Loads, starts and stops: the one serial domain of a host, on a thread of its own.
actor Coordinator {
    private enum State {
        case starting(Task<Result<RunningComponent, BackplaneError>, Never>)
        case ready(RunningComponent)
        case failed(BackplaneError)
    }
    private let document: ManifestDocument
    private let linked: [LinkedPlugin]
    private let options: HostOptions
    private let timer = DeadlineTimer()
    private let watchdog: Watchdog?
    private let starter: ComponentStarter
    private nonisolated let executor = ThreadExecutor(name: "bp-coordinator")

    private var loadedManifest: LoadedManifest?
    private var states: [Int: State] = [:]
    /// In the order in which they came up.
    private var started: [RunningComponent] = []
    private var connections: Connections
    private nonisolated let remotes = RemoteTable()
    private var numbers: [Int: UInt16] = [:]
    private var stopping: Task<Void, Never>?
    private var isStopped: Bool { stopping != nil }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ document: ManifestDocument, linked: [LinkedPlugin], _ options: HostOptions) {
        (self.document, self.linked, self.options) = (document, linked, options)
        connections = Connections(timer: timer, options)
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

    private var loaded: LoadedManifest {
        if let loadedManifest { return loadedManifest }
        let new = LoadedManifest(document, linked: linked, options)
        loadedManifest = new
        watchdog?.start(new.images)
        if isStopped { new.loadFolder?.remove() }
        return new
    }

    func problems() -> [Problem] { loaded.problems }

    func lock() -> [String: LockedClass] { loaded.lock }

    // MARK: Starting

    func startAll() async throws(BackplaneError) {
        try requireRunning()
        let loaded = loaded
        try loaded.requireSound()
        for node in loaded.plan.nodes { _ = try await start(node) }
    }

    func running(_ manager: String) async throws(BackplaneError) -> RunningComponent {
        try requireRunning()
        let nodes = try loaded.nodes(neededBy: manager)
        for node in nodes.dropLast() { _ = try await start(node) }
        return try await start(nodes[nodes.count - 1])
    }

    /// Starts a node once, however many ask; one that failed is tried again by the next who asks.
    private func start(_ node: Plan.Node) async throws(BackplaneError) -> RunningComponent {
        try requireRunning()
        switch states[node.id] {
        case .ready(let component):
            return component
        case .starting(let task):
            return try await task.value.get()
        case .failed, nil:
            let task = Task { await make(node) }
            states[node.id] = .starting(task)
            return try await task.value.get()
        }
    }

    private func make(_ node: Plan.Node) async -> Result<RunningComponent, BackplaneError> {
        var wires: [ComponentStarter.Connection] = []
        do throws(BackplaneError) {
            let type = loaded.componentClass(of: node), number = try number(of: node)
            wires = connect(node, type, number: UInt32(number))
            let component = try await starter.start(node, type, number: number, resources: loaded.resources(of: node), wires)
            states[node.id] = .ready(component)
            started.append(component)
            log(.debug, "started", component)
            return .success(component)
        } catch {
            connections.abandon(wires, of: node)
            states[node.id] = .failed(error)
            return .failure(error)
        }
    }

    private func connect(_ node: Plan.Node, _ type: ComponentClass, number: UInt32) -> [ComponentStarter.Connection] {
        node.wires.compactMap { wire in
            guard case .ready(let provider) = states[wire.provider] else { return nil }
            return connections.connect(node, type, number: number, wire.label, to: provider, loaded.componentClass(of: provider.node))
        }
    }

    /// The gate of a manager, started if it was not.
    func gate(of manager: String) async throws(BackplaneError) -> Gate {
        connections.gate(of: try await running(manager).node)
    }

    func wires() -> [WireStatus] { connections.statuses }

    /// A node that is tried again keeps its number.
    private func number(of node: Plan.Node) throws(BackplaneError) -> UInt16 {
        if let number = numbers[node.id] { return number }
        guard numbers.count < Int(UInt16.max) else {
            throw BackplaneError(.componentFailed, "this host has made \(numbers.count) components, as many as a call's path can name; restart it")
        }
        let number = UInt16(numbers.count + 1)
        numbers[node.id] = number
        return number
    }

    private func requireRunning() throws(BackplaneError) {
        if isStopped { throw BackplaneError(.hostStopped, "the host has stopped; make a new one") }
    }

    // MARK: Looking up

    func slot<C: Contract>(to manager: String, as _: C.Type) async throws(BackplaneError) -> Slot {
        let component = try await running(manager)
        if let slot = remotes.find(manager, C.self) { return slot }
        try requireRunning()
        let consumer = try LaneSide(program: C.self)
        try component.node.requireService(of: consumer.contract)
        let slot = connections.connectProgram(consumer, to: component, loaded.componentClass(of: component.node)) { Cells(C.self, calling: component.target) }
        remotes.add(slot, manager, C.self)
        return slot
    }

    /// The slot of a manager that was looked up before; takes no turn on the coordinator's thread.
    nonisolated func knownSlot<C: Contract>(to manager: String, as _: C.Type) -> Slot? {
        remotes.find(manager, C.self)
    }

    func statuses() -> [ManagerStatus] {
        let plan = loaded.plan
        let sound = plan.managers.map { name, id in
            let entry = plan.nodes[id].entry
            return ManagerStatus(
                name: name, state: state(of: id), className: entry.component.className, version: entry.component.version, plugin: entry.plugin)
        }
        let faulty = plan.faults.map { name, error in
            ManagerStatus(name: name, state: .unsatisfied(error), className: document.manifest.managers[name]?.className)
        }
        return (sound + faulty).sorted { $0.name < $1.name }
    }

    private func state(of id: Int) -> ManagerState {
        switch states[id] {
        case nil: .resolved
        case .starting: .starting
        case .ready: isStopped ? .stopped : .ready
        case .failed(let error): .failed(error)
        }
    }

    // MARK: Stopping

    /// Stops once; whoever else asks waits until it is over.
    func stop() async {
        let task = stopping ?? Task { await stopAll() }
        stopping = task
        await task.value
    }

    private func stopAll() async {
        // What is still starting is not waited for: it may never come up.
        remotes.clear()
        starter.underWay.giveUp()
        for case .starting(let task) in states.values { _ = await task.value }
        for component in started.reversed() { await stop(component) }
        started = []
        loadedManifest?.loadFolder?.remove()
        retire()
    }

    private func stop(_ component: RunningComponent) async {
        let gate = connections.gate(of: component.node)
        gate.close()
        component.calls.close()
        let isIdle = await timer.waits(options.stopLimit) {
            gate.callsInFlight == 0 && gate.callsAside == 0 && component.calls.callsInFlight == 0
        }
        guard isIdle else {
            log(.error, "left as it is: calls into it have not ended", component)
            await starter.retire(component.handle, releasing: nil)
            return
        }
        do {
            try await starter.limited("stop", component.node, limit: options.stopLimit, canBeGivenUp: false) { watch async throws(BackplaneError) in
                try await component.instance.stop(watch, HostThread.launch)
            }
            log(.debug, "stopped", component)
        } catch {
            log(.error, "did not stop", component, error)
        }
        await starter.retire(component.handle, releasing: component.instance)
    }

    private func log(_ level: Log.Level, _ message: String, _ component: RunningComponent, _ error: BackplaneError? = nil) {
        guard options.log.isEnabled(level) else { return }
        var metadata = ["component": component.name, "role": "\(component.node.role)"]
        metadata["error"] = error?.description
        options.log.write(LogRecord(level: level, source: "host", message: message, metadata: metadata))
    }
}

import Backplane
import BackplaneBoundary
import BackplaneExchange

/// The serial domain of a host, on a separate thread, which loads, starts, changes and stops components.
actor Coordinator {
    let options: HostOptions
    nonisolated let log: HostLog
    nonisolated let clock: any HostClock
    nonisolated let remotes = RemoteTable()
    nonisolated let executor = ThreadExecutor(name: "bp-coordinator")
    private let watchdog: Watchdog?
    let starter: ComponentStarter
    /// The folder of the components' data, which does not change when another manifest is applied.
    nonisolated let dataFolder: @Sendable () throws(BackplaneError) -> DataFolder
    /// The record store of all components.
    nonisolated let records: HostStore
    /// The HTTP exchanges of all components.
    nonisolated let network: HostNetwork

    /// The source of the active manifest, which can be read without waiting for this actor.
    nonisolated let manifestSource: ActiveSource
    /// The listeners to the host's events.
    nonisolated let events = HostEventFeed()
    /// The names of the lanes as last announced.
    var lanes: [WireKey: String] = [:]
    let live: LiveComposition
    let lookUps: LookUpsUnderWay
    let turns = Turns()
    private(set) lazy var instances = Instances(live: live, starter: starter, finder: finder)
    private(set) lazy var startup = Startup(live, instances, lookUps)
    private(set) lazy var shutdown = Shutdown(live: live, instances: instances, lookUps: lookUps)
    private(set) lazy var changes = CompositionChanges(live, instances, startup, shutdown)
    private(set) lazy var retirements = Retirements(live, instances, lookUps)
    private(set) lazy var replacements = Replacements(live)

    /// The wires for the host program's calls by name, keyed by manager.
    var namedWires: [String: ServedWire] = [:]
    /// The swap in progress.
    var swapUnderWay: SwapTransaction?
    /// The manifests that swaps replaced together with code.
    var manifestHistory = ManifestHistory()
    var stopping: Task<Void, Never>?
    var isStopped: Bool { live.isStopped }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ document: ManifestDocument, linked: [LinkedPlugin], _ given: HostOptions) {
        let log = HostLog(given.log, given.logLevels), clock = given.clock ?? SystemClock()
        var options = given
        options.log = log
        (self.options, self.log, self.clock) = (options, log, clock)
        manifestSource = ActiveSource(document.source)
        if options.namesCrashes { LastWords.keep() }
        watchdog = options.occupationLimit.map { Watchdog(limit: $0, log: options.log) }
        let dataFolder = { @Sendable () throws(BackplaneError) in
            try DataFolder(in: given.dataFolder, manifest: document.path ?? "unnamed")
        }
        var means = options.network(by: clock)
        means.vault = CredentialVault(
            keptIn: { () throws(BackplaneError) in try dataFolder().credentialsFolder() },
            find: { [managers = means.managers] manager, call in try await managers.authenticator(manager, call) })
        network = HostNetwork(means, document)
        live = LiveComposition(
            document, linked: linked, options.lifecycle(of: means.managers), clock: clock, remotes: remotes,
            network: network, source: manifestSource, watchdog: watchdog)
        lookUps = LookUpsUnderWay(live)
        let consumers = live.consumers
        let store = HostStore(document.manifest.store.overruled(by: options.damagedStore)) { settings in
            try given.openStore(dataFolder().storeFolder(), settings) { error in
                log.write(
                    LogRecord(
                        level: .error, source: "host", message: "the store is or was damaged",
                        metadata: ["error": error.description]))
            }
        }
        (self.dataFolder, records) = (dataFolder, store)
        starter = ComponentStarter(
            options: options.lifecycle, clock: clock, network: network,
            store: store, transfers: HostTransfers(network, store, log: log, dataFolder),
            data: ComponentData(store: store, log: options.log, dataFolder), consumers: consumers)
        network.managers.connect(CoordinatorManagers(self))
    }

    /// Starts the threads that the host needs, unless they are running.
    ///
    /// - Throws: `host.exhausted` if they cannot be created.
    nonisolated func requireThreads() throws(BackplaneError) {
        guard executor.begin(), clock.polls.begin() else { throw .noThread }
    }

    /// Lets the host's threads end once they have no work left.
    nonisolated func retire() {
        executor.retire()
        clock.polls.retire()
        watchdog?.retire()
    }

    func problems() -> [Problem] { live.loaded.problems }

    func encodedStates() -> [Problem] { live.loaded.encodedStates }

    func lock() -> [String: LockedClass] { live.loaded.lock }

    func providerSide(ofManager name: String) throws(BackplaneError) -> LaneSide {
        live.loaded.componentClass(of: try live.loaded.node(ofManager: name)).providerSide
    }

    func composition() -> Composition { live.loaded.composition(options.lanes) }

    func statuses() -> [ManagerStatus] { live.statuses }

    func wires() -> [WireStatus] { live.connections.statuses }

    func startAll(keepGoing: Bool) async throws(BackplaneError) {
        defer { if !isStopped { starter.transfers.goOn() } }
        try await startup.startAll(keepGoing: keepGoing)
    }

    /// Stops the host once; concurrent callers wait until it has stopped.
    ///
    /// No part of it waits for Swift's pool.
    func stop() async {
        live.stop()
        let task = stopping ?? Task(executorPreference: executor) { await self.stopAll() }
        stopping = task
        await task.value
    }

    /// Stops the host on the calling thread, because no other can be created and no component has started.
    nonisolated func stopOnCallingThread() {
        guard !executor.runOnCallingThread(until: .now + options.stopLimit, { await self.stop() }) else { return }
        options.log.write(
            LogRecord(
                level: .error, source: "host",
                message:
                    "not stopped: the system cannot create a thread for it; its copies of libraries remain, and the next host removes them",
                metadata: [:]))
    }

    private func stopAll() async {
        // Components that are still starting are abandoned, since they may never come up.
        remotes.clear()
        starter.underWay.giveUp()
        await turns.take()
        // Changes that were requested in the meantime fail, because the host has stopped.
        defer { turns.end() }
        await retirements.endAll()
        await shutdown.stopAll()
        await starter.transfers.end(within: options.stopLimit, clock)
        // A file that is being made or repaired is not left to the next host, unless it takes too long.
        _ = await clock.waits(options.stopLimit) { [store = starter.store] in !store.isBeingOpened }
        starter.store.close()
        live.loadFolder?.remove()
        events.end()
        retire()
    }
}

// MARK: Lookups by components

extension Coordinator {
    /// Creates the function with which a component, identified by its node's id, looks up others in this actor.
    private nonisolated var finder: @Sendable (Int, ComponentClass) -> ManagerFinder {
        { [weak self] asker, type in
            ManagerFinder(
                asker: type,
                find: { [weak self] name, needed, call in
                    guard let self else { return .failure(.askerStopped) }
                    return await self.find(name, needed, for: asker, call)
                },
                providers: { [weak self] contract in
                    guard let self else { return EncodedAnswer(BackplaneError.askerStopped) }
                    return await self.providers(of: contract)
                })
        }
    }

    private func find(_ manager: String, _ needed: NeededEnd, for asker: Int, _ call: Call?) async
        -> ManagerFinder.Found
    {
        await ComponentLookUps(live: live, startup: startup, underWay: lookUps).find(manager, needed, for: asker, call)
    }

    private func providers(of contract: ContractDescription) -> EncodedAnswer {
        ComponentLookUps(live: live, startup: startup, underWay: lookUps).providers(of: contract)
    }
}

import Backplane
import BackplaneExchange
import CBackplaneHost
import Synchronization

/// The serial domain of a host, on a separate thread, which loads, starts, changes and stops components.
actor Coordinator {
    nonisolated let options: HostOptions
    nonisolated let log: HostLog
    nonisolated let clock: any HostClock
    nonisolated let remotes = RemoteTable()
    nonisolated let executor = ThreadExecutor(name: "bp-coordinator")
    private let watchdog: Watchdog?
    /// The folder of the components' data, which does not change when another manifest is applied.
    nonisolated let dataFolder: @Sendable () throws(BackplaneError) -> DataFolder
    /// The record store of all components.
    nonisolated let records: HostStore
    /// The HTTP exchanges of all components.
    nonisolated let network: HostNetwork
    /// The transfers of all components and of the program.
    nonisolated let transfers: HostTransfers
    /// The graphs of all components.
    nonisolated let graphs = HostOperations()

    /// The source of the active manifest, which can be read without waiting for this actor.
    nonisolated let manifestSource: ActiveSource
    nonisolated let routing = HostRouting()
    nonisolated let screens = HostScreens()
    /// The listeners to the host's events.
    nonisolated let events = HostEventFeed()
    /// The actions with which a stop begins, while components can still be called.
    nonisolated let stopActions = Mutex<[@Sendable () async -> Void]>([])
    /// The names of the lanes as last announced.
    var lanes: [WireKey: String] = [:]
    let live: LiveComposition
    let turns = Turns()
    private(set) lazy var instances = Instances(
        live, records, ComponentData(store: records, log: log, dataFolder), transfers, graphs, self)
    private(set) lazy var starter = Starter(instances)
    private(set) lazy var stopper = Stopper(starter)
    private(set) lazy var replacements = Replacements(live)

    /// The wires for the host program's calls by name, keyed by manager.
    var namedWires: [String: ServedWire] = [:]
    /// The change in progress.
    var changeUnderWay: Change?
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
        if options.namesCrashes { bph_keep_last_words() }
        watchdog = options.occupationLimit.map { Watchdog(limit: $0, log: options.log) }
        let dataFolder = { @Sendable () throws(BackplaneError) in
            try DataFolder(in: given.dataFolder, manifest: document.path ?? "unnamed")
        }
        var means = options.network(by: clock)
        let isSubstituted = given.mocks?.isForAll == true || given.cassette?.player != nil
        means.vault = CredentialVault(
            keptIn: { () throws(BackplaneError) in
                try dataFolder().make(isSubstituted ? .mockedCredentials : .credentials)
            },
            find: { [managers = means.managers] manager, call in try await managers.authenticator(manager, call) })
        means.caches = HostCaches(means.managers, by: clock, log, open: given.openCache) { () throws(BackplaneError) in
            try dataFolder().make(.cache)
        } hasFolder: {
            (try? dataFolder().has(.cache)) ?? false
        }
        network = HostNetwork(means, document)
        live = LiveComposition(
            document, linked: linked, options, clock: clock, remotes: remotes,
            network: network, source: manifestSource, routing: routing, screens: screens, watchdog: watchdog)
        let store = HostStore(document.manifest.store.overruled(by: options.damagedStore)) { settings in
            try given.openStore(dataFolder().make(.store), settings) { error in
                log.report(.error, "the store is or was damaged", ["error": error.description])
            }
        }
        (self.dataFolder, records) = (dataFolder, store)
        transfers = HostTransfers(network, store, log: log, dataFolder)
        network.managers.connect(self)
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

    /// Returns the active manifest with its plugins, which are loaded on first use.
    func loaded() async -> LoadedManifest {
        await live.load()
        return live.loaded
    }

    func statuses() async -> [ManagerStatus] {
        await live.load()
        return live.statuses
    }

    func wires() -> [WireStatus] { live.wires.statuses }

    func startAll(keepGoing: Bool) async throws(BackplaneError) {
        defer { if !isStopped { transfers.goOn() } }
        try await starter.startAll(keepGoing: keepGoing)
    }

    /// Stops the host once; concurrent callers wait until it has stopped.
    ///
    /// Only the actions with which a stop begins wait for Swift's pool.
    func stop() async {
        live.stop()
        let task = stopping ?? Task(executorPreference: executor) { await self.stopAll() }
        stopping = task
        await task.value
    }

    private func stopAll() async {
        // Components that are still starting are abandoned, since they may never come up.
        remotes.clear()
        instances.underWay.giveUp()
        let actions = stopActions.withLock { $0 }, areDone = Mutex(actions.isEmpty)
        if !actions.isEmpty {
            Task {
                for action in actions { await action() }
                areDone.withLock { $0 = true }
            }
        }
        await turns.take()
        // Changes that were requested in the meantime fail, because the host has stopped.
        defer { turns.end() }
        // The actions need Swift's pool, which plugins may occupy.
        _ = await clock.waits(min(options.stopLimit, .seconds(1))) { areDone.withLock { $0 } }
        await stopper.stopAll()
        await transfers.end(within: options.stopLimit, clock)
        // A store file that is being created or moved aside is finished first, unless that takes too long.
        _ = await clock.waits(options.stopLimit) { [records] in !records.isBeingOpened }
        records.close()
        live.loadFolder?.remove()
        events.end()
        retire()
    }
}

extension Coordinator: ManagerDirectory {
    nonisolated func manager<C: Contract>(
        _ name: String, as contract: C.Type
    ) async throws(BackplaneError) -> Remote<C> {
        if let slot = knownSlot(to: name, as: contract) { return Remote(slot) }
        try requireThreads()
        return Remote(try await slot(to: name, as: contract))
    }

    func find(
        _ manager: String, _ needed: ConsumerEnd, for asker: Int, _ call: Call?
    ) async throws(BackplaneError) -> OpenWire {
        try await starter.find(manager, needed, for: asker, call)
    }

    func providers(of contract: ContractDescription, for asker: Int) -> EncodedAnswer {
        starter.providers(of: contract, for: asker)
    }
}

extension Coordinator {
    /// Activates new builds of plugins and, if specified, another manifest: either all of them or none.
    func swap(
        _ libraries: [String], applying document: ManifestDocument?, _ options: ChangeOptions,
        progress report: ChangeProgressReport?
    ) async throws(BackplaneError) -> ChangeReport {
        try await changing { asked throws(BackplaneError) in
            let target = try await target(libraries, applying: document, options)
            guard target.changes(live.loaded) else { return ChangeReport(.unchanged) }
            return try await change(to: target, options, asked: asked, progress: report)
        }
    }

    /// Activates plugins that are linked into this program and, if specified, another manifest.
    func swap(
        linked: [LinkedPlugin], applying document: ManifestDocument? = nil, _ options: ChangeOptions,
        progress report: ChangeProgressReport? = nil
    ) async throws(BackplaneError) -> ChangeReport {
        try await changing { asked throws(BackplaneError) in
            var target = try await target([], applying: document, options, needsLibraries: false)
            for plugin in linked { target.replacements.append(try replacements.describe(plugin)) }
            return try await change(to: target, options, asked: asked, progress: report)
        }
    }

    /// Reactivates an older generation of a plugin, and the manifest that a change replaced together with it.
    func rollback(_ plugin: String, to number: Int?, _ options: ChangeOptions, progress report: ChangeProgressReport?)
        async throws(BackplaneError) -> ChangeReport
    {
        try await changing { asked throws(BackplaneError) in
            try await change(
                to: try replacements.earlier(plugin, number, manifestHistory), options, asked: asked, progress: report)
        }
    }

    /// Activates another manifest.
    func apply(_ document: ManifestDocument, _ options: ChangeOptions, progress report: ChangeProgressReport?)
        async throws(BackplaneError) -> ChangeReport
    {
        try await changing { asked throws(BackplaneError) in
            let target = try await target([], applying: document, options)
            do throws(BackplaneError) {
                try target.manifest?.requireSound()
            } catch {
                target.abandon(in: live)
                throw error
            }
            return try await change(to: target, options, asked: asked, progress: report)
        }
    }

    /// Recreates components without their state.
    func reset(_ recreated: ChangeTarget.Recreated) async throws(BackplaneError) -> ChangeReport {
        try await changing { asked throws(BackplaneError) in
            try await change(to: ChangeTarget(recreated: recreated), ChangeOptions(), asked: asked)
        }
    }

    /// Runs a change after the changes that were requested earlier.
    private func changing(_ body: (Deadline) async throws(BackplaneError) -> ChangeReport)
        async throws(BackplaneError) -> ChangeReport
    {
        let asked = clock.moment
        await turns.take()
        defer { turns.end() }
        await live.load()
        try live.requireRunning()
        return try await body(asked)
    }

    func preview(_ libraries: [String], applying document: ManifestDocument?, _ options: ChangeOptions)
        async throws(BackplaneError) -> ChangeReport
    {
        let isTurn = await turns.takeLook(isOnProbation: changeUnderWay?.machine.isOnProbation ?? false)
        defer { if isTurn { turns.end() } }
        await live.load()
        try live.requireRunning()
        let target = try await target(libraries, applying: document, options)
        defer { target.wasPreviewed(in: live) }
        return try await draft(target, options, asked: clock.moment).preview
    }

    /// Activates a target, or leaves everything unchanged.
    private func change(
        to target: ChangeTarget, _ options: ChangeOptions, asked: Deadline, progress report: ChangeProgressReport? = nil
    ) async throws(BackplaneError) -> ChangeReport {
        let before = live.loaded, change: Change
        do throws(BackplaneError) {
            change = try await draft(target, options, asked: asked)
            if let error = BackplaneError.combining(refusals: change.refusals) { throw error }
        } catch {
            target.abandon(in: live)
            throw error
        }
        change.reportProgress = report
        changeUnderWay = change
        defer { changeUnderWay = nil }
        // A new component uses the services of its own manifest from the start.
        if change.isOfAnotherManifest { follow(change.after.document.manifest) }
        defer { dropNamedWires() }
        let result: ChangeReport
        do throws(BackplaneError) { result = try await change.perform() } catch {
            follow(before.document.manifest)
            target.abandon(in: live)
            throw error
        }
        if result.outcome == .rolledBack {
            follow(before.document.manifest)
        } else if change.isOfAnotherManifest {
            manifestHistory.add(from: before, to: change.after)
        }
        return result
    }

    /// Loads the plugins and the manifest that a change is to activate.
    private func target(
        _ libraries: [String], applying document: ManifestDocument?, _ options: ChangeOptions,
        needsLibraries: Bool = true
    ) async throws(BackplaneError) -> ChangeTarget {
        if let document {
            _ = try document.soundManifest
            try requireNoRestart(for: document)
        } else if needsLibraries, libraries.isEmpty {
            throw BackplaneError(.swapRefused, "specify at least one library to swap, or a manifest to activate")
        }
        return try await replacements.target(libraries, applying: document, options)
    }

    private func draft(_ target: ChangeTarget, _ options: ChangeOptions, asked: Deadline)
        async throws(BackplaneError) -> Change
    {
        try await Change.draft(target, options, asked: asked, stopper, turns)
    }
}

/// The lookups of the host program.
extension Coordinator {
    /// Returns a manager by its name, starting it if it is not running.
    func running(_ manager: String) async throws(BackplaneError) -> RunningComponent {
        try await starter.running(manager)
    }

    func slot<C: Contract>(to manager: String, as _: C.Type) async throws(BackplaneError) -> Slot {
        let component = try await starter.running(manager)
        if let slot = remotes.find(manager, C.self) { return slot }
        try live.requireRunning()
        let consumer = try LaneSide(program: C.self)
        try component.node.requireService(of: consumer.contract)
        let slot = live.wires.connectProgram(
            ConsumerEnd(side: consumer) { Cells(C.self, calling: $0) }, to: component)
        remotes.add(slot, manager, C.self)
        return slot
    }

    /// Returns the wire for the host program's calls by name to a manager, which is started if it is not running.
    func names(of manager: String) async throws(BackplaneError) -> ServedWire {
        let component = try await starter.running(manager)
        // A renamed manager keeps its gate.
        if let wire = namedWires[manager], wire.leads(through: component.gate) { return wire }
        let wire = live.wires.connectNames(to: component)
        namedWires[manager] = wire
        return wire
    }

    /// Drops the wires for calls by name to managers that are no longer active; renamed managers keep theirs.
    private func dropNamedWires() {
        for (manager, wire) in namedWires where live.loaded.plan.managers[manager] == nil {
            namedWires[manager] = nil
            if let node = live.nodes.first(where: { wire.leads(through: $0.gate) }) {
                namedWires[node.node.name] = wire
            } else {
                live.wires.abandon(wire.slot)
            }
        }
    }

    /// Returns the slot of a manager that was looked up earlier, without waiting for the coordinator's thread.
    nonisolated func knownSlot<C: Contract>(to manager: String, as _: C.Type) -> Slot? {
        remotes.find(manager, C.self)
    }

    /// Returns the managers that serve a contract, without starting them.
    func providers<C: Contract>(of _: C.Type) async -> [ManagerDescription] {
        await loaded().plan.providers(of: ContractDescription(of: C.self))
    }

    /// Returns the slot of the first running manager that serves a contract and meets a condition.
    func resolve<C: Contract>(_: C.Type, where isWanted: (ManagerDescription) -> Bool) async throws(BackplaneError)
        -> Slot
    {
        try live.requireRunning()
        let providers = await providers(of: C.self).filter(isWanted)
        let isUp = { [live] (name: String) in live.loaded.plan.managers[name].map { live.nodes[$0].running != nil } }
        if let provider = providers.first(where: { isUp($0.name) == true }) {
            return try await slot(to: provider.name, as: C.self)
        }
        let names = providers.map { "`\($0.name)`" }.joined(separator: ", ")
        throw BackplaneError(
            .unknownManager,
            "no running manager provides \(C.name) \(C.version)"
                + (names.isEmpty ? "" : " and meets the condition; not running: \(names)"))
    }

    /// Returns the gate of a manager, which is started if it is not running.
    func gate(of manager: String) async throws(BackplaneError) -> Gate {
        try await starter.running(manager).gate
    }
}

extension Coordinator {
    /// Returns every generation of a plugin, or of all plugins, that is in memory.
    func generations(of name: String?) async throws(BackplaneError) -> [Generation] {
        await live.load()
        return try stopper.generations(of: name, during: changeUnderWay)
    }

    /// Returns the call counts of every running component.
    func statistics() -> [ComponentStatistics] { live.statistics(stopper.retirementsUnderWay) }
}

/// The parts of the host that sections of the manifest configure.
extension Coordinator {
    /// Checks that a manifest changes no section that must stay the same while it is in use.
    ///
    /// - Throws: `manifest.needs-restart` with the locations of the changed values.
    func requireNoRestart(for document: ManifestDocument) throws(BackplaneError) {
        guard records.isOpen else { return }
        // The program's options take precedence over the manifest.
        let old = live.loaded.document.manifest.store.overruled(by: options.damagedStore)
        let places = old.changes(to: document.manifest.store.overruled(by: options.damagedStore))
        guard !places.isEmpty else { return }
        let names = places.map { "`\($0)`" }.joined(separator: " and ")
        throw BackplaneError(
            .manifestNeedsRestart,
            "\(names) of this host cannot be changed while it runs; nothing was changed; stop the host and start it with this manifest",
            at: document.path)
    }

    /// Passes the sections of a manifest that becomes active to the parts of the host that use them.
    ///
    /// Exchanges follow the manifest that is active (``LiveComposition``).
    func follow(_ manifest: Manifest) {
        records.settings = manifest.store.overruled(by: options.damagedStore)
    }
}

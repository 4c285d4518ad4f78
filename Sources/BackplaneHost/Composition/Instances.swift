import Backplane
import BackplaneExchange
import Synchronization

/// The instances of components, from their creation to their release, and the resources that they use.
final class Instances {
    let live: LiveComposition
    let store: HostStore
    let data: ComponentData
    let graphs: HostOperations
    /// The steps of components that are in progress.
    let underWay = StepsUnderWay()
    let unfinished = UnfinishedCreations()
    private let transfers: HostTransfers
    private weak let directory: (any ManagerDirectory)?
    private var options: HostOptions { live.options }
    private var clock: any HostClock { live.clock }

    init(
        _ live: LiveComposition, _ store: HostStore, _ data: ComponentData, _ transfers: HostTransfers,
        _ graphs: HostOperations, _ directory: any ManagerDirectory
    ) {
        (self.live, self.store, self.data) = (live, store, data)
        (self.transfers, self.graphs, self.directory) = (transfers, graphs, directory)
    }

    /// Assigns a node the number that identifies it in the path of calls.
    ///
    /// - Throws: An error at the component's definition if all numbers are in use.
    func number(_ node: LiveNode) throws(BackplaneError) {
        let number = try live.numbers.take(for: node.node)
        live.consumers.begin(number)
        node.number = number
    }

    /// Creates the instance of a node that already has its number.
    ///
    /// - Parameters:
    ///   - manifest: The manifest from which the node's class comes.
    ///   - provider: A function that returns the provider of a wire, by its place in that manifest's plan.
    /// - Throws: The reason why the instance was not created, located at its definition in the manifest.
    func make(
        _ new: LiveNode, of type: ComponentClass, in manifest: LoadedManifest, limit: Duration? = nil,
        wiredTo provider: (Int) -> RunningComponent?
    ) async throws(BackplaneError) -> RunningComponent {
        let node = new.node, number = new.number ?? 0, plugin = manifest.plugins[node.entry.order]
        let wires = node.wires.compactMap { wire -> OpenWire? in
            guard let provider = provider(wire.provider), let end = type.consumerEnd(ofWire: wire.label) else {
                return nil
            }
            return live.wires.connect(new, wire.label, end, to: provider)
        }
        if node.role == .dataAccessController { prepareStore() }
        let timers = ComponentTimers(of: node.name, clock: clock, log: options.log)
        var handle: UInt64?
        do throws(BackplaneError) {
            let place = try await data.place(of: node, in: manifest.plan)
            let services = services(of: new, type, in: manifest, at: place, wires, timers),
                own = ComponentHandles.add(services)
            handle = own
            let creation = ComponentClass.OfferedCreation(
                number: number, handle: own, configuration: Array(node.configuration),
                folder: try data.folder(of: node, at: place), resources: plugin.resources ?? "",
                connections: wires.map { ComponentClass.OfferedWire(label: $0.label, wire: $0.id, slot: $0.slot) })
            let began = Double.secondsSince1970
            let instance = try await limited("be created", node, limit: limit) { [options, unfinished] id in
                let entry = UnfinishedCreations.Entry(id: id, component: node.name, plugin: plugin, began: began)
                unfinished.add(entry, options.log)
            } step: { watch async throws(BackplaneError) in
                try await type.create(creation, watch)
            }
            return RunningComponent(
                node: node, type, of: plugin, number: number, gate: new.gate, instance: instance, handle: own,
                dataPlace: place, timers: timers, live.consumers, clock: clock)
        } catch {
            if let handle { await retire(handle, releasing: nil) }
            throw error.located(in: node)
        }
    }

    /// Creates the host's services for a component.
    private func services(
        of new: LiveNode, _ type: ComponentClass, in manifest: LoadedManifest, at place: String?, _ wires: [OpenWire],
        _ timers: ComponentTimers
    ) -> OfferedServices {
        let node = new.node, network = live.network, folder = data.networkFolder(of: node)
        return OfferedServices(
            role: node.role, name: node.name, plugin: node.entry.plugin, log: options.log,
            exchanges: Exchanges(
                network, own: live.isActive(manifest) ? nil : network.network(of: manifest.document), of: node.name,
                number: new.number ?? 0, managers: node.managers, folder: folder.path,
                mocks: manifest.plugins[node.entry.order].resources.map { FilePath.join($0, "mocks") }, clock: clock,
                idleLimit: options.exchangeIdleLimit, new.gate.exchanges, options.log),
            store: store,
            serviceOperations: ServiceOperations(clock: clock), namespace: place ?? "", folder: folder,
            transfers: transfers, graphs: graphs,
            wires: Dictionary(uniqueKeysWithValues: wires.map { ($0.id, $0.wire) }),
            managers: ManagerFinder(directory: directory, node: new.id, asker: type),
            timers: timers, contexts: ContextCount())
    }

    /// Opens the store before it is needed, so that the log reports problems with it at startup.
    private func prepareStore() {
        store.prepare { [log = options.log] error in
            log.report(
                .error, "the store cannot be used; operations that need it fail until it is usable",
                ["error": error.description])
        }
    }

    /// Activates a component.
    ///
    /// - Throws: The reason why it is not active, located at its definition in the manifest.
    func activate(_ component: RunningComponent, limit: Duration? = nil) async throws(BackplaneError) {
        do throws(BackplaneError) {
            try await limited("be activated", component.node, limit: limit, step: component.instance.activate)
        } catch {
            throw error.located(in: component.node)
        }
    }

    /// Suspends an instance without callers once its use of the host's services has ended or a time limit has passed.
    ///
    /// - Returns: A warning if the instance continued to use those services after its `suspend`.
    func suspend(_ component: RunningComponent, _ limit: Duration, canBeGivenUp: Bool = true)
        async throws(BackplaneError) -> String?
    {
        live.endStreams(openedBy: component)
        let served = ComponentHandles.find(component.handle)
        let isIdle = { !(served?.isWorking ?? false) }, servicesLimit = live.options.servicesLimit
        _ = await live.drained(servicesLimit, isIdle)
        try await limited(
            "be suspended", component.node, limit: limit, canBeGivenUp: canBeGivenUp, step: component.instance.suspend)
        if await live.drained(servicesLimit, isIdle) { return nil }
        served?.exchanges.retireAll(forGood: false)
        return isIdle()
            ? "\(component.name) had exchanges in flight after it was suspended, which were ended; `suspend` must end them"
            : "\(component.name) still uses the host's services although it was suspended; `suspend` must end such work"
    }
    /// Ends the host's services for a component, answers its pending requests and releases the instance.
    ///
    /// An instance that may still receive an answer, or whose functions are still running, is not released.
    func retire(_ handle: UInt64, releasing instance: ComponentInstance?) async {
        guard let component = ComponentHandles.find(handle) else { return }
        component.close()
        graphs.endAll(of: handle)
        let isFree = await clock.waits(options.stopLimit) { !component.isBusy && component.contexts.isZero }
        if isFree { instance?.release() }
        ComponentHandles.remove(handle)
        store.endDeclarations(of: handle)
    }

    /// Releases the resources of a node that has ended.
    func end(_ node: LiveNode) {
        live.wires.abandon(usedBy: node)
        node.found = [:]
        if let number = node.number {
            live.consumers.end(number)
            live.numbers.giveBack(number)
        }
        node.number = nil
    }

    /// Releases the resources of a node outside the active plan, and removes it.
    func giveBack(_ node: LiveNode) {
        end(node)
        live.dismiss(node)
    }

    /// Runs a step of the component until its time limit, or until the host abandons it, in which case it counts as
    /// failed.
    ///
    /// - Parameter late: A function that receives the step's number once the limit has passed.
    func limited<Value>(
        _ what: String, _ node: Plan.Node, limit: Duration? = nil, canBeGivenUp: Bool = true,
        late: @escaping @Sendable (UInt64) -> Void = { _ in },
        step: (Callbacks.Watch) async throws(BackplaneError) -> Value
    ) async throws(BackplaneError) -> Value {
        let limit = limit ?? options.startLimit, name = node.name
        var watched: UInt64?
        defer {
            if let watched {
                clock.cancel(watched)
                underWay.remove(watched)
            }
        }
        // The limit is not enforced by cancelling a task, because cancellation handlers need Swift's pool, which
        // plugins may occupy.
        return try await step { id in
            watched = id
            clock.schedule(id, at: clock.moment + limit) {
                let error = BackplaneError(.callDeadline, "\(name) took longer than \(limit) to \(what)")
                Callbacks.end(id, EncodedAnswer(error)) { late(id) }
            }
            if canBeGivenUp {
                underWay.add(id, BackplaneError(.hostStopped, "the host stopped before \(name) could \(what)"))
            }
        }
    }
}

/// The steps of components in progress, which a stopping host can abandon.
final class StepsUnderWay: Sendable {
    private struct State {
        var errors: [UInt64: BackplaneError] = [:]
        var isOver = false
    }
    private let state = Mutex(State())

    /// Adds a step, or ends it immediately if all steps have already been abandoned.
    ///
    /// - Parameter error: The result of the step if it is abandoned.
    func add(_ id: UInt64, _ error: BackplaneError) {
        let isOver = state.withLock { state in
            if !state.isOver { state.errors[id] = error }
            return state.isOver
        }
        if isOver { Callbacks.end(id, EncodedAnswer(error)) }
    }

    func remove(_ id: UInt64) {
        state.withLock { _ = $0.errors.removeValue(forKey: id) }
    }

    /// Ends all steps in progress, and every one that starts later.
    func giveUp() {
        let errors = state.withLock { state in
            state.isOver = true
            return state.errors
        }
        for (id, error) in errors { Callbacks.end(id, EncodedAnswer(error)) }
    }
}

/// The creations of instances that were abandoned at their time limit, and whose code has not returned.
///
/// Such code ends only with the process.
final class UnfinishedCreations: Sendable {
    struct Entry: Sendable {
        /// The number of the plugin's pending answer.
        let id: UInt64
        let component: String
        let plugin: LoadedPlugin
        /// The time at which the creation started, in seconds since 1970.
        let began: Double
    }
    private let entries = Mutex<[Entry]>([])

    func add(_ entry: Entry, _ log: any LogSink) {
        entries.withLock { $0.append(entry) }
        log.report(
            .error, "an `init` has not returned; only a restart of the program ends it and frees its thread",
            [
                "component": entry.component, "plugin": entry.plugin.description.id,
                "version": "\(entry.plugin.description.version)", "since": entry.began.localTime,
            ])
    }

    /// The creations that have not returned yet.
    var all: [Entry] {
        entries.withLock { entries in
            entries.removeAll { !Callbacks.isOwed($0.id) }
            return entries
        }
    }
}

/// The numbers that identify components in the path of calls, each unique among living components.
struct ComponentNumbers {
    private var last: UInt16 = 0
    /// The numbers of components that have ended, the earliest first, so that a number is reused as late as possible.
    private var free: [UInt16] = []

    /// Returns a free number.
    ///
    /// - Throws: An error at the component's definition if all numbers are in use.
    mutating func take(for node: Plan.Node) throws(BackplaneError) -> UInt16 {
        if last < .max {
            last += 1
            return last
        }
        guard !free.isEmpty else {
            throw BackplaneError(
                .componentFailed,
                "\(node.name) cannot be created: \(UInt16.max) components are running, which is the limit of a "
                    + "call's path; use fewer, or a second host",
                at: node.location)
        }
        return free.removeFirst()
    }

    var inUse: Int { Int(last) - free.count }

    mutating func giveBack(_ number: UInt16) {
        free.append(number)
    }
}

extension BackplaneError {
    /// Returns the error with the location of its component prepended to its own.
    fileprivate func located(in node: Plan.Node) -> BackplaneError {
        var error = self
        if code == .configurationInvalid {
            error.location = node.place(of: "/\(node.configurationKey)\(location ?? "")")
        } else {
            error.location = node.location + (location.map { ": \($0)" } ?? "")
        }
        return error
    }
}

import Backplane
import BackplaneExchange
import Glibc
import Synchronization

/// The creation and activation of one component whose collaborators are running.
struct ComponentStarter {
    let options: HostOptions
    let clock: any HostClock
    let network: HostNetwork
    let store: HostStore
    let transfers: HostTransfers
    let data: ComponentData
    /// The consumers of all components' open streams.
    let consumers: StreamConsumers
    /// The graphs of all components.
    let graphs = HostOperations()
    /// The steps of components that are in progress.
    let underWay = StepsUnderWay()
    let unfinished = UnfinishedCreations()
    /// The function that runs functions of plugins that may not return.
    private static let launch: Callbacks.Launch = HostThread.launch

    /// Activates a component.
    ///
    /// - Throws: The reason why it is not active, located at its definition in the manifest.
    func activate(_ component: RunningComponent, limit: Duration? = nil) async throws(BackplaneError) {
        do throws(BackplaneError) {
            try await limited("be activated", component.node, limit: limit) { watch async throws(BackplaneError) in
                try await component.instance.activate(watch)
            }
        } catch {
            throw error.located(in: component.node)
        }
    }

    /// Creates the instance of a component.
    ///
    /// - Parameter network: The network for its exchanges if the component does not belong to the active manifest.
    /// - Throws: The reason why it was not created, located at its definition in the manifest.
    func make(
        _ node: Plan.Node, _ type: ComponentClass, of plugin: LoadedPlugin, in plan: Plan, number: UInt16, gate: Gate,
        _ wires: [OpenWire], _ managers: ManagerFinder, exchanging own: ManifestNetwork?,
        limit: Duration? = nil
    ) async throws(BackplaneError) -> RunningComponent {
        if node.role == .dataAccessController { prepareStore() }
        let place: String?
        do throws(BackplaneError) { place = try await data.place(of: node, in: plan) } catch {
            throw error.located(in: node)
        }
        let timers = ComponentTimers(of: node.name, clock: clock, log: options.log)
        let folder = data.networkFolder(of: node), contexts = ContextCount()
        let handle = ComponentHandles.add(
            OfferedServices(
                role: node.role, name: node.name, plugin: node.entry.plugin, log: options.log,
                exchanges: Exchanges(
                    network, own: own, of: node.name, number: number, managers: node.managers, folder: folder.path,
                    clock: clock,
                    idleLimit: options.exchangeIdleLimit,
                    gate.exchanges, ExchangeLog(log: options.log)),
                store: store,
                serviceOperations: ServiceOperations(
                    node.role == .dataAccessController ? "the operation on the store" : "the sign-in", clock: clock),
                namespace: place ?? "",
                folder: folder,
                transfers: ComponentTransfers(
                    host: transfers, plugin: node.entry.plugin, component: node.name, managers: node.managers,
                    folder: folder, operations: ServiceOperations("the operation on a transfer", clock: clock)),
                graphs: ComponentGraphs(
                    host: graphs, plugin: node.entry.plugin, component: node.name, contexts: contexts),
                wires: Dictionary(uniqueKeysWithValues: wires.map { ($0.id, $0.wire) }), managers: managers,
                timers: timers, contexts: contexts))
        do throws(BackplaneError) {
            let creation = ComponentClass.OfferedCreation(
                number: number, handle: handle, configuration: Array(node.configuration),
                folder: try data.folder(of: node, at: place),
                resources: plugin.resources ?? "",
                connections: wires.map { ComponentClass.OfferedWire(label: $0.label, wire: $0.id, slot: $0.slot) })
            let began = Double.secondsSince1970
            let instance = try await limited("be created", node, limit: limit) { id in
                let entry = UnfinishedCreations.Entry(id: id, component: node.name, plugin: plugin, began: began)
                unfinished.add(entry)
                logUnfinished(entry)
            } step: { watch async throws(BackplaneError) in
                try await type.create(creation, watch, Self.launch)
            }
            return RunningComponent(
                node: node, type, number: number, gate: gate, instance: instance, handle: handle,
                dataPlace: place, timers: timers, consumers, clock: clock)
        } catch {
            await retire(handle, releasing: nil)
            throw error.located(in: node)
        }
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

    /// Opens the store before it is needed, so that the log reports problems with it at startup.
    private func prepareStore() {
        store.prepare { [log = options.log] error in
            log.write(
                LogRecord(
                    level: .error, source: "host",
                    message: "the store cannot be used; operations that need it fail until it is usable",
                    metadata: ["error": error.description]))
        }
    }

    private func logUnfinished(_ entry: UnfinishedCreations.Entry) {
        guard options.log.isEnabled(.error) else { return }
        options.log.write(
            LogRecord(
                level: .error, source: "host",
                message: "an `init` has not returned; only a restart of the program ends it and frees its thread",
                metadata: [
                    "component": entry.component, "plugin": entry.plugin.description.id,
                    "version": "\(entry.plugin.description.version)", "since": entry.began.localTime,
                ]))
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
        // Not a task's cancellation, whose handlers need Swift's thread pool, which plugins may occupy.
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

extension BackplaneError {
    /// Returns the error with the location of its component prepended to its own.
    fileprivate func located(in node: Plan.Node) -> BackplaneError {
        var error = self
        if code == .configurationInvalid {
            error.location = node.place(of: node.configurationKey + (location ?? ""))
        } else {
            error.location = node.location + (location.map { ": \($0)" } ?? "")
        }
        return error
    }
}

extension Plan.Node {
    /// The key of the component's configuration, as a JSON pointer.
    var configurationKey: String {
        role == .networkService ? "/networkServiceConfiguration" : "/configuration"
    }
}

/// The creations of instances that were abandoned at their time limit, and whose code has not returned.
///
/// Such code ends only with the process.
final class UnfinishedCreations: Sendable {
    struct Entry: Sendable {
        /// The number of the plugin's pending answer.
        let id: UInt64
        /// The component's name.
        let component: String
        let plugin: LoadedPlugin
        /// The time at which the creation started, in seconds since 1970.
        let began: Double
    }
    private let entries = Mutex<[Entry]>([])

    func add(_ entry: Entry) {
        entries.withLock { $0.append(entry) }
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

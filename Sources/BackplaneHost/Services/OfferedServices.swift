import Backplane
import BackplaneBoundary
import CBackplane
import Synchronization

/// The host's services for one component, and its operations in progress.
final class OfferedServices: Sendable {
    let role: Role
    let name: String
    /// The id of the component's plugin.
    let plugin: String
    let log: any LogSink
    let exchanges: Exchanges
    let store: HostStore
    /// The operations on the store, or the sign-ins of accounts.
    let serviceOperations: ServiceOperations
    let folder: ComponentFolder
    let transfers: ComponentTransfers
    /// The graphs of operations that the component runs.
    let graphs: ComponentGraphs
    /// The component's namespace in the store.
    let namespace: String
    /// The means by which the component looks up managers that its wires do not name.
    let managers: ManagerFinder
    let timers: ComponentTimers
    /// The contexts of the component's graphs and timers.
    let contexts: ContextCount
    /// The component's wires by handle, for components that call through the host.
    let wires: Mutex<[UInt64: ServedWire]>
    private let operations = Mutex(Operations())
    /// The open streams that the component has opened through the host, keyed by number.
    private let streams = Mutex<[UInt64: ServedStream]>([:])

    private struct Operations {
        /// The number of operations that the host has not answered.
        var count = 0
        /// The number of those operations that end independently of the component.
        var waits = 0
        var isClosed = false
        /// The calls among those operations, by id.
        var calls: [UInt64: OwnCall] = [:]
    }
    /// A call that the component makes through the host.
    private struct OwnCall {
        let reply: Reply
        let isWait: Bool
        /// The function that notifies the provider that its answer is no longer needed; `nil` until the call has
        /// started.
        var cancel: (@Sendable () -> Void)?
    }

    init(
        role: Role, name: String, plugin: String, log: any LogSink, exchanges: Exchanges, store: HostStore,
        serviceOperations: ServiceOperations, namespace: String, folder: ComponentFolder,
        transfers: ComponentTransfers, graphs: ComponentGraphs, wires: [UInt64: ServedWire],
        managers: ManagerFinder, timers: ComponentTimers, contexts: ContextCount
    ) {
        (self.role, self.name, self.plugin, self.log, self.exchanges) = (role, name, plugin, log, exchanges)
        (self.store, self.namespace, self.managers, self.timers) = (store, namespace, managers, timers)
        (self.serviceOperations, self.folder, self.transfers) = (serviceOperations, folder, transfers)
        (self.graphs, self.contexts) = (graphs, contexts)
        self.wires = Mutex(wires)
    }

    /// Returns the wire with a handle.
    ///
    /// - Throws: `wire.unknown` if the component has no such wire.
    func wire(_ handle: UInt64) throws(BackplaneError) -> ServedWire {
        if let wire = wires.withLock({ $0[handle] }) { return wire }
        throw BackplaneError(.wireUnknown, "the component has no wire with the handle \(handle)")
    }

    /// Adds a wire that was looked up; existing wires remain.
    func add(_ wire: ServedWire, as handle: UInt64) {
        wires.withLock { $0[handle] = wire }
    }

    /// Counts an operation whose answer goes to the component; ``end()`` must follow once it has been answered.
    ///
    /// - Throws: `call.retired` if the component is closed.
    ///
    /// - Parameters:
    ///   - count: The number of operations, all of them or none.
    ///   - isWait: Whether the operations wait for another party, so that only the release of the component waits for
    ///     them.
    func begin(_ count: Int = 1, isWait: Bool = false) throws(BackplaneError) {
        try begin(count, isWait: isWait) { _ in }
    }

    private func begin(_ count: Int = 1, isWait: Bool, _ note: (inout Operations) -> Void) throws(BackplaneError) {
        let isOpen = operations.withLock { operations in
            guard !operations.isClosed else { return false }
            operations.count += count
            if isWait { operations.waits += count }
            note(&operations)
            return true
        }
        if !isOpen { throw .askerStopped }
    }

    func end() { end(isWait: false) }

    func end(isWait: Bool) {
        operations.withLock { operations in
            operations.count -= 1
            if isWait { operations.waits -= 1 }
        }
    }

    /// Counts a call that is answered once through `reply`: by ``answer(_:_:_:)`` or when the component is closed.
    ///
    /// - Throws: `call.retired` if the component is closed.
    ///
    /// - Parameter isWait: The same as in ``begin(_:isWait:)``.
    func begin(_ reply: Reply, isWait: Bool = false) throws(BackplaneError) -> UInt64 {
        let id = Callbacks.newID()
        try begin(isWait: isWait) { $0.calls[id] = OwnCall(reply: reply, isWait: isWait) }
        return id
    }

    /// Stores the function that cancels a call, and runs it immediately if the component has been closed in the
    /// meantime.
    func keep(_ call: UInt64, cancel: @escaping @Sendable () -> Void) {
        let isClosed = operations.withLock { operations in
            operations.calls[call]?.cancel = cancel
            return operations.isClosed && operations.calls[call] == nil
        }
        if isClosed { cancel() }
    }

    /// Cancels a call of this component; any other number is ignored.
    func cancel(_ call: UInt64) { operations.withLock { $0.calls[call]?.cancel }?() }

    func answer(_ call: UInt64, _ status: Int32, _ payload: bp_bytes) {
        guard let call = operations.withLock({ $0.calls.removeValue(forKey: call) }) else { return }
        call.reply.end(status, payload)
        end(isWait: call.isWait)
    }

    /// Refuses further operations, and ends the timers, the exchanges, the calls in progress and the waits for changes.
    func close() {
        let calls = operations.withLock { operations in
            operations.isClosed = true
            defer { operations.calls = [:] }
            return operations.calls.values.map(\.self)
        }
        timers.end()
        exchanges.retireAll(forGood: true)
        serviceOperations.retireWaits()
        transfers.operations.retireWaits()
        let open = streams.withLock { streams in
            defer { streams = [:] }
            return streams.values.map(\.self)
        }
        for call in calls {
            call.reply.end(.askerStopped)
            end(isWait: call.isWait)
        }
        // A provider's function may never return, so none is awaited here.
        let closes: [@Sendable () -> Void] = open.map { stream in { stream.close() } }
        PluginWork.end(closes + calls.compactMap(\.cancel), by: serviceOperations.clock)
    }

    // MARK: Streams

    /// The number of all streams that exceed the limit; valid numbers are lower.
    private static let oneTooMany = UInt64.max

    /// Registers a stream until it is closed, and returns its number.
    ///
    /// A stream that the component may not have is closed; for its number, ``stream(_:)`` throws the reason.
    func keep(_ stream: ServedStream) -> UInt64 {
        let id = Callbacks.newID()
        let isKept = streams.withLock { streams in
            guard streams.count < ComponentStreams.limit else { return false }
            streams[id] = stream
            return true
        }
        guard isKept else {
            stream.close()
            return Self.oneTooMany
        }
        // Checked afterwards, because the component may meanwhile be closed, with the streams that it has by then.
        if isClosed { removeStream(id)?.close() }
        return id
    }

    /// A Boolean value that indicates whether the component is ending, and begins nothing more.
    var isClosed: Bool { operations.withLock { $0.isClosed } }

    /// Returns an open stream.
    ///
    /// - Throws: `host.exhausted` for one that exceeded the limit; `call.retired` if the component is closed;
    ///   `stream.misused` if the component has no stream with the number.
    func stream(_ id: UInt64) throws(BackplaneError) -> ServedStream {
        if let stream = streams.withLock({ $0[id] }) { return stream }
        if id == Self.oneTooMany {
            throw BackplaneError(
                .hostExhausted,
                "\(name) has \(ComponentStreams.limit) streams that it has not closed; close some before opening another"
            )
        }
        if isClosed { throw .askerStopped }
        throw BackplaneError(
            .streamMisused, "the component has no stream with the number \(id); it was closed, or never opened")
    }

    func removeStream(_ id: UInt64) -> ServedStream? { streams.withLock { $0.removeValue(forKey: id) } }

    /// A Boolean value that indicates whether the component has streams that it has not closed.
    var hasStreams: Bool { streams.withLock { !$0.isEmpty } }

    /// Returns the function that ends the streams that are open now with an error; the component closes them.
    func endingStreams(_ error: BackplaneError) -> @Sendable () -> Void {
        let open = streams.withLock { Array($0.values) }
        return { for stream in open { stream.end(error) } }
    }

    /// A Boolean value that indicates whether the host has yet to answer an operation.
    var isBusy: Bool { operations.withLock { $0.count > 0 } }

    /// A Boolean value that indicates whether the host is working for the component, as opposed to only waiting.
    var isWorking: Bool { operations.withLock { $0.count > $0.waits } }

    /// Requires the component to have one of the roles.
    ///
    /// - Throws: `role.forbidden` if it has none of them.
    func require(_ roles: Role..., for service: String) throws(BackplaneError) {
        guard !roles.contains(role) else { return }
        let allowed = roles.map { "\($0)s" }.joined(separator: " and ")
        throw BackplaneError(.roleForbidden, "\(name) is a \(role); only \(allowed) can use \(service)")
    }
}

extension BackplaneError {
    static var askerStopped: BackplaneError { BackplaneError(.callRetired, "the calling component has stopped") }
}

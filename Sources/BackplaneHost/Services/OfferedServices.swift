public import Backplane
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
    /// The operations on the store and on transfers, the sign-ins of accounts, and the lookups of managers.
    let serviceOperations: ServiceOperations
    let folder: ComponentFolder
    let transfers: HostTransfers
    /// The graphs of operations of all components.
    let graphs: HostOperations
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
    private let streams = Mutex<[UInt64: EncodedStream]>([:])

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
        /// The function that notifies the provider that its answer is no longer needed; `nil` until the call has
        /// started.
        var cancel: (@Sendable () -> Void)?
    }

    init(
        role: Role, name: String, plugin: String, log: any LogSink, exchanges: Exchanges, store: HostStore,
        serviceOperations: ServiceOperations, namespace: String, folder: ComponentFolder,
        transfers: HostTransfers, graphs: HostOperations, wires: [UInt64: ServedWire],
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
    func begin(_ reply: Reply) throws(BackplaneError) -> UInt64 {
        let id = Callbacks.newID()
        try begin(isWait: false) { $0.calls[id] = OwnCall(reply: reply) }
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
        end()
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
        let open = streams.withLock { streams in
            defer { streams = [:] }
            return streams.values.map(\.self)
        }
        for call in calls {
            call.reply.end(.askerStopped)
            end()
        }
        // A provider's function may never return, so none is awaited here.
        let closes: [@Sendable () -> Void] = open.map { stream in { stream.close() } }
        PluginWork.end(closes + calls.compactMap(\.cancel), by: serviceOperations.clock)
    }

    /// The number of all streams that exceed the limit; valid numbers are lower.
    private static let oneTooMany = UInt64.max

    /// Registers a stream until it is closed, and returns its number.
    ///
    /// A stream that the component may not have is closed; for its number, ``stream(_:)`` throws the reason.
    func keep(_ stream: EncodedStream) -> UInt64 {
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
        // Checked afterwards, because the component may have been closed in the meantime, and with it only the earlier
        // streams.
        if isClosed { removeStream(id)?.close() }
        return id
    }

    /// Whether the component is ending, and begins nothing more.
    var isClosed: Bool { operations.withLock { $0.isClosed } }

    /// Returns an open stream.
    ///
    /// - Throws: `host.exhausted` for one that exceeded the limit; `call.retired` if the component is closed;
    ///   `stream.misused` if the component has no stream with the number.
    func stream(_ id: UInt64) throws(BackplaneError) -> EncodedStream {
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

    func removeStream(_ id: UInt64) -> EncodedStream? { streams.withLock { $0.removeValue(forKey: id) } }

    var hasStreams: Bool { streams.withLock { !$0.isEmpty } }

    /// Returns the function that ends the streams that are open now with an error; the component closes them.
    func endingStreams(_ error: BackplaneError) -> @Sendable () -> Void {
        let open = streams.withLock { Array($0.values) }
        return { for stream in open { stream.endOpening(error) } }
    }

    /// Whether the host has yet to answer an operation.
    var isBusy: Bool { operations.withLock { $0.count > 0 } }

    /// Whether the host is working for the component, as opposed to only waiting.
    var isWorking: Bool { operations.withLock { $0.count > $0.waits } }
}

extension OfferedServices {
    /// Starts an operation of the component with a handle; its arguments are read before this function returns.
    ///
    /// - Parameters:
    ///   - noun: The name of the operation in errors.
    ///   - isWait: Whether the operation has no end of its own, so that it ends with the component.
    ///   - prepare: A function that reads the arguments, and returns the operation.
    /// - Returns: The number by which ``serviceOperations`` cancels it, or 0 if it has already ended.
    static func start<Value: Sendable>(
        _ handle: UInt64, _ noun: String, of service: String, for roles: [Role],
        call: UnsafePointer<bp_call>? = nil, isWait: Bool = false,
        _ answer: @escaping Answer<Value>,
        _ prepare: (OfferedServices) throws(BackplaneError) -> @Sendable () async throws(BackplaneError) -> Value
    ) -> UInt64 {
        do throws(BackplaneError) {
            let component = try ComponentHandles.require(handle, roles, for: service)
            let operation = try prepare(component)
            try component.begin(isWait: isWait)
            let call = call.map { Call(copying: $0) }
            return component.serviceOperations.start(noun, call, isWait: isWait, operation) { result in
                answer(result)
                component.end(isWait: isWait)
            }
        } catch {
            answer(.failure(error))
            return 0
        }
    }
}

/// A function that passes a result to a plugin, and is called exactly once.
typealias Answer<Value> = @Sendable (Result<Value, BackplaneError>) -> Void

/// Returns the function that answers through a plugin's callback.
///
/// - Parameters:
///   - context: The plugin's own context, which is passed back unchanged.
///   - succeed: A function that calls the callback with a value.
///   - fail: A function that calls the callback with a status and the payload of an error.
func answer<Value>(
    _ context: UnsafeMutableRawPointer?, _ succeed: @escaping @Sendable (UnsafeMutableRawPointer?, Value) -> Void,
    or fail: @escaping @Sendable (UnsafeMutableRawPointer?, Int32, bp_bytes) -> Void
) -> Answer<Value> {
    let context = ForeignPointer(raw: context)
    return { result in
        switch result {
        case .success(let value): succeed(context.raw, value)
        case .failure(let error):
            let answer = EncodedAnswer(error)
            answer.payload.withBytes { fail(context.raw, answer.status, $0) }
        }
    }
}

extension Reply {
    /// Ends with a result.
    func end(_ result: Result<EncodedAnswer, BackplaneError>) {
        switch result {
        case .success(let answer): end(answer)
        case .failure(let error): end(error)
        }
    }
}

extension BackplaneError {
    static var askerStopped: BackplaneError { BackplaneError(.callRetired, "the calling component has stopped") }
}

/// The host's services, which plugins look up by id and revision.
enum HostInterfaces {
    static let get: bp_get_interface = { id, revision in UnsafeRawPointer(tables["\(id.text)/\(revision)"]?.raw) }

    private static let tables = [
        "\(BP_LOG)/1": table(logFunctions), "\(BP_CALLS)/1": table(callFunctions),
        "\(BP_STREAMS)/1": table(streamFunctions), "\(BP_HTTP)/1": table(httpFunctions),
        "\(BP_TRANSFERS)/1": table(transferFunctions), "\(BP_OPERATIONS)/1": table(operationFunctions),
        "\(BP_STORE)/1": table(storeFunctions), "\(BP_STORE)/2": table(secondStoreFunctions),
        "\(BP_TIMERS)/1": table(timerFunctions),
    ]

    private static func table<Functions>(_ functions: Functions) -> ForeignPointer {
        ForeignPointer(raw: UnsafeMutableRawPointer(mutating: forever([functions])!))
    }
}

/// The handles by which components identify themselves to the host's services.
///
/// The functions of a service's table receive only a handle: they have no context of the host, and the table itself is
/// constant. A context kept after its component or its host has ended is refused without harm.
enum ComponentHandles {
    private static let components = NumberTable<OfferedServices>()

    static func add(_ component: OfferedServices) -> UInt64 { components.add(component) }

    // The component is released outside the lock, because what it retains may look up handles.
    static func remove(_ handle: UInt64) { components.remove(handle) }

    static func find(_ handle: UInt64) -> OfferedServices? { components.find(handle) }

    /// Returns the services of a handle, whose component must have one of the roles.
    ///
    /// - Throws: `role.forbidden` if it has none of them; the errors of ``require(_:)``.
    static func require(_ handle: UInt64, _ roles: [Role], for service: String) throws(BackplaneError)
        -> OfferedServices
    {
        let component = try require(handle)
        guard !roles.contains(component.role) else { return component }
        let allowed = roles.map { "\($0)s" }.joined(separator: " and ")
        throw BackplaneError(
            .roleForbidden, "\(component.name) is a \(component.role); only \(allowed) can use \(service)")
    }

    /// Returns the services of a handle.
    ///
    /// - Throws: `call.retired` if the handle was removed, `role.forbidden` if it was never issued.
    static func require(_ handle: UInt64) throws(BackplaneError) -> OfferedServices {
        if let component = find(handle) { return component }
        if Callbacks.hasIssued(handle) { throw .askerStopped }
        throw BackplaneError(.roleForbidden, "no component has the handle \(handle); pass the one from bp_creation")
    }
}

/// The functions of `backplane.log/1`.
let logFunctions = bp_log_1(
    size: UInt32(MemoryLayout<bp_log_1>.size), reserved: 0,
    is_enabled: { handle, level in
        guard let level = Log.Level(rawValue: level), let component = ComponentHandles.find(handle) else { return 0 }
        return component.log.isEnabled(level, for: component.name, of: component.plugin) ? 1 : 0
    },
    write: { handle, level, message, metadata, count in
        write(handle, nil, level, message, metadata, count)
    },
    write_for_call: { handle, frame, level, message, metadata, count in
        write(handle, Call(copying: frame).trace, level, message, metadata, count)
    })

private func write(
    _ handle: UInt64, _ trace: Trace?, _ level: UInt32, _ message: bp_bytes, _ metadata: UnsafePointer<bp_pair>?,
    _ count: Int
) {
    guard let component = ComponentHandles.find(handle) else { return }
    let pairs = Pairs.copy(metadata, count: min(count, 64)).map { ($0.name, $0.value) }
    var record = LogRecord(
        level: Log.Level(rawValue: level) ?? .info, source: component.name, plugin: component.plugin,
        message: message.text,
        metadata: Dictionary(pairs, uniquingKeysWith: { _, last in last }))
    if let trace { record.metadata["trace"] = trace.id }
    component.log.write(record)
}

/// The name of the lookups of managers in errors.
private let lookups = "the lookup of managers"

/// The functions of `backplane.calls/1`.
let callFunctions = bp_calls_1(
    size: UInt32(MemoryLayout<bp_calls_1>.size), reserved: 0,
    call: { handle, wire, method, input, frame, done, context in
        let reply = Reply(done, context)
        do throws(BackplaneError) {
            let component = try ComponentHandles.require(handle)
            let wire = try component.wire(wire)
            let call = try component.begin(reply)
            let id = wire.call(Int(method), input, Call(copying: frame), Reply { component.answer(call, $0, $1) })
            guard id != 0 else { return 0 }
            component.keep(call) { wire.cancel(id) }
            return call
        } catch {
            reply.end(error)
            return 0
        }
    },
    cancel: { handle, id in ComponentHandles.find(handle)?.cancel(id) },
    find: { handle, name, needed, frame, done, context in
        let answer: Answer<(wire: OpenWire, sharesSlots: Bool)> = answer(
            context,
            { context, found in found.wire.withC(found.sharesSlots) { done(context, Int32(BP_OK), $0, .empty) } },
            or: { done($0, $1, nil, $2) })
        _ = OfferedServices.start(handle, "the lookup", of: lookups, for: [.manager], answer) {
            component throws(BackplaneError) in
            let name = name.text, needed = try component.managers.asker.needed(needed)
            let call = frame.map { Call(copying: $0) }
            return { () throws(BackplaneError) in
                let wire = try await component.managers.find(name, needed, call)
                component.add(wire.wire, as: wire.id)
                return (wire, component.managers.asker.origin.sharesSlots)
            }
        }
    },
    providers: { handle, needed, done, context in
        _ = OfferedServices.start(handle, "the lookup", of: lookups, for: [.manager], Reply(done, context).end) {
            component throws(BackplaneError) in
            let contract = try component.managers.asker.needed(needed).side.contract
            return { () throws(BackplaneError) in await component.managers.providers(of: contract) }
        }
    })

/// The functions of `backplane.streams/1`.
let streamFunctions = bp_streams_1(
    size: UInt32(MemoryLayout<bp_streams_1>.size), reserved: 0,
    open: { handle, wire, method, input, frame in
        guard let component = ComponentHandles.find(handle) else { return Callbacks.newID() }
        do throws(BackplaneError) {
            let wire = try component.wire(wire)
            return component.keep(wire.open(.declared(Int(method)), input.array, Call(copying: frame)))
        } catch {
            return component.keep(EncodedStream(failed: error))
        }
    },
    next: { handle, id, count, done, context in
        let reply = Reply(done, context)
        do throws(BackplaneError) {
            let component = try ComponentHandles.require(handle), stream = try component.stream(id)
            guard count > 0 else {
                throw BackplaneError(.streamMisused, "0 elements were requested; expected at least 1")
            }
            let call = try component.begin(reply)
            stream.next(Int(count), Reply { component.answer(call, $0, $1) })
        } catch {
            reply.end(error)
        }
    },
    close: { handle, id in ComponentHandles.find(handle)?.removeStream(id)?.close() })

/// The functions of `backplane.timers/1`.
let timerFunctions = bp_timers_1(
    size: UInt32(MemoryLayout<bp_timers_1>.size), reserved: 0,
    add: { handle, timer, done, context in
        let reply = Reply(done, context)
        do throws(BackplaneError) {
            let component = try ComponentHandles.require(handle)
            let timer: bp_timer = read(timer)
            guard timer.fire != nil else {
                throw BackplaneError(.timerRefused, "the timer has no `fire` function")
            }
            guard timer.name.length <= 128 else {
                throw BackplaneError(
                    .timerRefused,
                    "the timer's name has \(UInt(bitPattern: timer.name.length)) bytes; at most 128 are allowed")
            }
            let request = ComponentTimers.Request(
                name: timer.name.text, delay: timer.delay_ns, period: timer.period_ns, jitter: timer.jitter_ns,
                limit: timer.limit_ns)
            let number = try component.timers.add(request) { TimerFunctions(timer, component.contexts.add()) }
            reply.end(EncodedAnswer([]))
            return number
        } catch {
            reply.end(error)
            return 0
        }
    },
    remove: { handle, timer in ComponentHandles.find(handle)?.timers.remove(timer) })

/// The lookups of managers by name or contract, which the coordinator performs.
protocol ManagerDirectory: AnyObject, Sendable {
    /// Returns a manager for the host's own network, starting it if necessary.
    func manager<C: Contract>(_ name: String, as contract: C.Type) async throws(BackplaneError) -> Remote<C>
    /// Returns the wire of a component, identified by its node's id, to a manager that its wires do not name.
    func find(
        _ manager: String, _ needed: ConsumerEnd, for asker: Int, _ call: Call?
    ) async throws(BackplaneError) -> OpenWire
    /// Returns the managers that serve a contract, as JSON.
    func providers(of contract: ContractDescription, for asker: Int) async -> EncodedAnswer
}

/// The means by which one component looks up managers that its wires do not name.
struct ManagerFinder: Sendable {
    weak let directory: (any ManagerDirectory)?
    /// The id of the component's node.
    let node: Int
    /// The component's class.
    let asker: ComponentClass

    func find(_ manager: String, _ needed: ConsumerEnd, _ call: Call?) async throws(BackplaneError) -> OpenWire {
        guard let directory else { throw .askerStopped }
        return try await directory.find(manager, needed, for: node, call)
    }

    func providers(of contract: ContractDescription) async -> EncodedAnswer {
        await directory?.providers(of: contract, for: node) ?? EncodedAnswer(BackplaneError.askerStopped)
    }
}

extension OpenWire {
    fileprivate func withC(_ sharesSlots: Bool, _ body: (UnsafePointer<bp_connection>) -> Void) {
        label.withBytes { label in
            var connection = bp_connection(
                size: UInt32(MemoryLayout<bp_connection>.size), reserved: 0, label: label, wire: id,
                slot: sharesSlots ? slot.address : nil)
            body(&connection)
        }
    }
}

/// The JSON that plugins read when they search for managers.
extension ManagerDescription: Encodable {
    private enum CodingKeys: String, CodingKey { case name, className, version, plugin }

    /// Encodes the name, class name, version and plugin.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(className, forKey: .className)
        try container.encode(version, forKey: .version)
        try container.encode(plugin, forKey: .plugin)
    }
}

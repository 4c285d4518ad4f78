import Backplane
import BackplaneBoundary
import CBackplane
import Synchronization

/// The host's services, which plugins look up by id and revision.
enum HostInterfaces {
    static let get: bp_get_interface = { id, revision in
        switch (id.text, revision) {
        case (BP_LOG, 1): return UnsafeRawPointer(log.pointer)
        case (BP_CALLS, 1): return UnsafeRawPointer(calls.pointer)
        case (BP_STREAMS, 1): return UnsafeRawPointer(streams.pointer)
        case (BP_HTTP, 1): return UnsafeRawPointer(http.pointer)
        case (BP_HTTP, 2): return UnsafeRawPointer(streamedHTTP.pointer)
        case (BP_BODIES, 1): return UnsafeRawPointer(bodies.pointer)
        case (BP_TRANSFERS, 1): return UnsafeRawPointer(transfers.pointer)
        case (BP_OPERATIONS, 1): return UnsafeRawPointer(operations.pointer)
        case (BP_STORE, 1): return UnsafeRawPointer(store.pointer)
        case (BP_STORE, 2): return UnsafeRawPointer(store2.pointer)
        case (BP_TIMERS, 1): return UnsafeRawPointer(timers.pointer)
        default: return nil
        }
    }

    private static let log = ConstantPointer(forever([logFunctions])!)
    private static let calls = ConstantPointer(forever([callFunctions])!)
    private static let streams = ConstantPointer(forever([streamFunctions])!)
    private static let http = ConstantPointer(forever([httpFunctions])!)
    private static let streamedHTTP = ConstantPointer(forever([streamedHTTPFunctions])!)
    private static let bodies = ConstantPointer(forever([bodyFunctions])!)
    private static let transfers = ConstantPointer(forever([transferFunctions])!)
    private static let operations = ConstantPointer(forever([operationFunctions])!)
    private static let store = ConstantPointer(forever([storeFunctions])!)
    private static let store2 = ConstantPointer(forever([secondStoreFunctions])!)
    private static let timers = ConstantPointer(forever([timerFunctions])!)
}

/// The handles by which components identify themselves to the host's services.
///
/// A handle is a number that is never reused, so that a context kept after its component or its host has ended is
/// refused without harm. The functions of a service's table receive only a handle: they have no context of the host,
/// and the table itself is constant. Therefore one table per process contains the handles of all hosts, in shards,
/// because every function of a service begins here.
enum ComponentHandles {
    private final class Shard: Sendable {
        let components = Mutex<[UInt64: OfferedServices]>([:])
    }
    private static let shards = (0..<64).map { _ in Shard() }
    private static let next = Atomic<UInt64>(1)

    private static func shard(_ handle: UInt64) -> Shard { shards[Int(handle % UInt64(shards.count))] }

    static func add(_ component: OfferedServices) -> UInt64 {
        let handle = next.wrappingAdd(1, ordering: .relaxed).oldValue
        shard(handle).components.withLock { $0[handle] = component }
        return handle
    }

    static func remove(_ handle: UInt64) {
        // Released outside the lock, because what it retains may look up handles.
        let removed = shard(handle).components.withLock { $0.removeValue(forKey: handle) }
        withExtendedLifetime(removed) {}
    }

    /// Returns the services of a handle.
    ///
    /// - Throws: `call.retired` if the handle was removed, `role.forbidden` if it was never issued.
    static func require(_ handle: UInt64) throws(BackplaneError) -> OfferedServices {
        if let component = find(handle) { return component }
        guard (1..<next.load(ordering: .relaxed)).contains(handle) else {
            throw BackplaneError(
                .roleForbidden, "no component has the handle \(handle); pass the one from bp_creation")
        }
        throw .askerStopped
    }

    static func find(_ handle: UInt64) -> OfferedServices? {
        shard(handle).components.withLock { $0[handle] }
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
        let reply = FoundReply(done, context)
        do throws(BackplaneError) {
            let component = try ComponentHandles.require(handle)
            try component.require(.manager, for: "the lookup of managers")
            let name = name.text, needed = try component.managers.asker.needed(needed),
                call = frame.map { Call(copying: $0) }
            try component.begin()
            Task {
                let found = await component.managers.find(name, needed, call)
                if case .success(let found) = found { component.add(found.wire, as: found.id) }
                reply.end(found, sharesSlots: component.managers.asker.sharesSlots)
                component.end()
            }
        } catch {
            reply.end(.failure(error), sharesSlots: false)
        }
    },
    providers: { handle, needed, done, context in
        let reply = Reply(done, context)
        do throws(BackplaneError) {
            let component = try ComponentHandles.require(handle)
            try component.require(.manager, for: "the lookup of managers")
            let contract = try component.managers.asker.needed(needed).side.contract
            try component.begin()
            Task {
                reply.end(await component.managers.providers(contract))
                component.end()
            }
        } catch {
            reply.end(error)
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
            return component.keep(ServedStream(failed: error))
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

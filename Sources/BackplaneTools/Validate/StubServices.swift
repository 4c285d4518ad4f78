import Backplane
import BackplaneHost
import CBackplane
import Synchronization

/// The host services without a host: an empty store, timers that never fire, and a network and wires without a peer.
///
/// Calls through wires and network requests fail immediately, or wait until they are cancelled.
enum StubServices {
    private struct State {
        /// A Boolean value that indicates whether calls wait until they are cancelled, instead of failing immediately.
        var keepsWaiting = false
        var last: UInt64 = 0
        var waiting: [UInt64: Reply] = [:]
        /// The timers, by number, with the handles of their components.
        var timers: [UInt64: (component: UInt64, timer: ForeignTable<bp_timer>)] = [:]
    }
    /// The state for the whole process, because a C function cannot capture any other.
    private static let state = Mutex(State())

    /// Makes calls through wires wait until they are cancelled.
    static func keepWaiting() { state.withLock { $0.keepsWaiting = true } }

    /// Ends the waiting calls that have not been cancelled.
    static func giveUp() {
        let replies = state.withLock { state in
            state.keepsWaiting = false
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for reply in replies { reply.end(BackplaneError(.callRetired, "the trial is over")) }
    }

    /// Calls an entry function as a host without the native lane, which treats every plugin as if it were written in C.
    static func ask(_ entry: PluginDescription.Entry, _ answer: UnsafeMutablePointer<bp_answer>) -> Int32 {
        Array("0.0.0".utf8).withBytes { version in
            var offer = bp_offer(
                size: UInt32(MemoryLayout<bp_offer>.size), abi_min: UInt32(BP_ABI_MIN), abi_max: UInt32(BP_ABI_MAX),
                lane_revision: 0, host_version: version, toolchain: .empty, get_interface: get)
            return entry(&offer, answer)
        }
    }

    static let get: bp_get_interface = { id, revision in
        switch (id.text, revision) {
        case (BP_LOG, 1): return UnsafeRawPointer(log.pointer)
        case (BP_CALLS, 1): return UnsafeRawPointer(calls.pointer)
        case (BP_STREAMS, 1): return UnsafeRawPointer(streams.pointer)
        case (BP_HTTP, 1): return UnsafeRawPointer(http.pointer)
        case (BP_TRANSFERS, 1): return UnsafeRawPointer(transfers.pointer)
        case (BP_OPERATIONS, 1): return UnsafeRawPointer(operations.pointer)
        case (BP_STORE, 1): return UnsafeRawPointer(store.pointer)
        case (BP_STORE, 2): return UnsafeRawPointer(store2.pointer)
        case (BP_TIMERS, 1): return UnsafeRawPointer(timers.pointer)
        default: return nil
        }
    }

    private static func begin(_ reply: Reply) -> UInt64 {
        let id = state.withLock { state -> UInt64 in
            guard state.keepsWaiting else { return 0 }
            state.last += 1
            state.waiting[state.last] = reply
            return state.last
        }
        if id == 0 {
            reply.end(Int32(BP_FAILED), "nothing is connected to this wire, because the plugin is being validated")
        }
        return id
    }

    private static func cancel(_ id: UInt64) {
        let reply = state.withLock { $0.waiting.removeValue(forKey: id) }
        reply?.end(Int32(BP_CANCELLED), "the call was cancelled")
    }

    private static let log = constant(
        bp_log_1(
            size: UInt32(MemoryLayout<bp_log_1>.size), reserved: 0, is_enabled: { _, _ in 1 },
            write: { _, _, _, _, _ in }, write_for_call: { _, _, _, _, _, _ in }))

    private static let calls = constant(
        bp_calls_1(
            size: UInt32(MemoryLayout<bp_calls_1>.size), reserved: 0,
            call: { _, _, _, _, _, done, context in begin(Reply(done, context)) },
            cancel: { _, id in cancel(id) },
            find: { _, _, _, _, done, context in
                Array("there are no other managers, because the plugin is being validated".utf8).withBytes {
                    done(context, Int32(BP_FAILED), nil, $0)
                }
            },
            providers: { _, _, done, context in Array("[]".utf8).withBytes { done(context, Int32(BP_OK), $0) } }))

    private static let streams = constant(
        bp_streams_1(
            size: UInt32(MemoryLayout<bp_streams_1>.size), reserved: 0,
            open: { _, _, _, _, _ in
                state.withLock { state in
                    state.last += 1
                    return state.last
                }
            },
            next: { _, _, _, done, context in
                Reply(done, context).end(
                    Int32(BP_FAILED), "nothing is connected to this wire, because the plugin is being validated")
            },
            close: { _, _ in }))

    private static let http = constant(
        bp_http_1(
            size: UInt32(MemoryLayout<bp_http_1>.size), reserved: 0,
            send: { _, _, _, done, context in
                let asker = ForeignPointer(raw: context)
                return begin(Reply { status, payload in done(asker.raw, status, nil, payload) })
            },
            open: { _, _, _, source, exchange, _ in
                let exchange: bp_http_exchange = read(exchange), source: bp_source? = source.map { read($0) }
                source.map { $0.release?($0.context) }
                guard let ended = exchange.ended else { return 0 }
                return begin(Reply(ended, exchange.context))
            },
            read: { _, _, _, done, context in
                Array("there is no such exchange".utf8).withBytes { done(context, Int32(BP_FAILED), $0) }
            }, cancel: { _, id in cancel(id) },
            sign_in: { _, _, _, _, _, _, done, context in begin(Reply(done, context)) },
            sign_out: { _, _, _, done, context in done(context, Int32(BP_OK), .empty) }, accept: { _, _ in }))

    private static let transfers = constant(
        bp_transfers_1(
            size: UInt32(MemoryLayout<bp_transfers_1>.size), reserved: 0,
            begin: { _, _, _, done, context in begin(Reply(done, context)) },
            change: { _, _, _, _, done, context in begin(Reply(done, context)) },
            state: { _, _, _, _, done, context in begin(Reply(done, context)) }, cancel: { _, id in cancel(id) }))

    private static let operations = constant(
        bp_operations_1(
            size: UInt32(MemoryLayout<bp_operations_1>.size), reserved: 0, begin: { _, _ in 0 }, end: { _, _ in },
            changed: { _, _ in }))

    private static let store = constant(
        bp_store_1(
            size: UInt32(MemoryLayout<bp_store_1>.size), reserved: 0,
            write: { _, _, _, done, context in done(context, Int32(BP_OK), .empty) },
            query: { _, _, done, context in done(context, Int32(BP_OK), nil, 0, 0, .empty) }))

    private static let store2 = constant(
        bp_store_2(
            size: UInt32(MemoryLayout<bp_store_2>.size), reserved: 0,
            define: { _, _, _, done, context in
                done(context, Int32(BP_OK), .empty)
                return 0
            },
            write: { _, batch, _, done, context in
                // Each change reports one affected record, because nothing is stored that could contradict it.
                let batch: bp_store_batch = read(batch)
                let numbers = [Int64](repeating: 1, count: min(max(batch.change_count, 0), Descriptors.dataLimit))
                done(context, Int32(BP_OK), numbers, numbers.count, .empty)
                return 0
            },
            read: { _, _, _, done, context in
                var page = bp_store_page()
                page.size = UInt32(MemoryLayout<bp_store_page>.size)
                done(context, Int32(BP_OK), &page, .empty)
                return 0
            },
            count: { _, _, _, done, context in
                Array("0".utf8).withBytes { done(context, Int32(BP_OK), $0) }
                return 0
            },
            changes: { _, _, _, _, _, done, context in
                var changes = bp_store_changes()
                changes.size = UInt32(MemoryLayout<bp_store_changes>.size)
                done(context, Int32(BP_OK), &changes, .empty)
                return 0
            },
            cancel: { _, id in cancel(id) },
            search: { _, _, _, done, context in
                var page = bp_store_page()
                page.size = UInt32(MemoryLayout<bp_store_page>.size)
                done(context, Int32(BP_OK), &page, .empty)
                return 0
            },
            wait: { _, _, _, _, done, context in
                // Nothing is stored, so nothing changes.
                begin(Reply(done, context))
            }))

    private static let timers = constant(
        bp_timers_1(
            size: UInt32(MemoryLayout<bp_timers_1>.size), reserved: 0,
            add: { component, timer, done, context in
                let timer = ForeignTable<bp_timer>(read(timer))
                let number = state.withLock { state in
                    state.last += 1
                    state.timers[state.last] = (component, timer)
                    return state.last
                }
                Reply(done, context).end(EncodedAnswer([]))
                return number
            },
            remove: { _, number in state.withLock { $0.timers.removeValue(forKey: number) }?.timer.release() }))

    /// Ends the timers of a component, as a host does before it releases the instance.
    static func endTimers(of component: UInt64) {
        let ended = state.withLock { state in
            let ended = state.timers.filter { $0.value.component == component }
            for number in ended.keys { state.timers[number] = nil }
            return ended
        }
        for (_, timer) in ended { timer.timer.release() }
    }

    private static func constant<Table>(_ table: Table) -> ConstantPointer<Table> { ConstantPointer(forever([table])!) }
}

extension Reply {
    fileprivate func end(_ status: Int32, _ text: String) {
        Array(text.utf8).withBytes { end(status, $0) }
    }
}

extension ForeignTable<bp_timer> {
    fileprivate func release() { table.release?(table.context) }
}

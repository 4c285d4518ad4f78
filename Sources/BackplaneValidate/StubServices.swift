import Backplane
import BackplaneTerminal
import CBackplane
import Synchronization

/// Host services without a host: a store that keeps nothing, and a network and wires without a peer.
///
/// Calls through wires and requests fail at once, or wait until they are cancelled.
enum StubServices {
    private struct State {
        /// A Boolean value that indicates whether calls wait until they are cancelled, instead of failing at once.
        var keepsWaiting = false
        var last: UInt64 = 0
        var waiting: [UInt64: Reply] = [:]
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

    static let get: bp_get_interface = { id, revision in
        guard revision == 1 else { return nil }
        switch id.text {
        case BP_LOG: return UnsafeRawPointer(log)
        case BP_CALLS: return UnsafeRawPointer(calls)
        case BP_HTTP: return UnsafeRawPointer(http)
        case BP_STORE: return UnsafeRawPointer(store)
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

    private nonisolated(unsafe) static let log = forever(  // constant, never freed
        bp_log_1(
            size: UInt32(MemoryLayout<bp_log_1>.size), reserved: 0, is_enabled: { _, _ in 1 },
            write: { _, _, _, _, _ in }))

    private nonisolated(unsafe) static let calls = forever(  // constant, never freed
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

    private nonisolated(unsafe) static let http = forever(  // constant, never freed
        bp_http_1(
            size: UInt32(MemoryLayout<bp_http_1>.size), reserved: 0,
            send: { _, _, _, done, context in
                let asker = Asker(context: context)
                return begin(Reply { status, payload in done(asker.context, status, nil, payload) })
            },
            cancel: { _, id in cancel(id) }))

    private nonisolated(unsafe) static let store = forever(  // constant, never freed
        bp_store_1(
            size: UInt32(MemoryLayout<bp_store_1>.size), reserved: 0,
            write: { _, _, _, done, context in done(context, Int32(BP_OK), .empty) },
            query: { _, _, done, context in done(context, Int32(BP_OK), nil, 0, 0, .empty) }))

    private struct Asker: @unchecked Sendable {  // the plugin's own pointer, handed back untouched
        let context: UnsafeMutableRawPointer?
    }

    private static func forever<Table>(_ table: Table) -> UnsafePointer<Table> {
        let pointer = UnsafeMutablePointer<Table>.allocate(capacity: 1)
        pointer.initialize(to: table)
        return UnsafePointer(pointer)
    }
}

extension Reply {
    fileprivate func end(_ status: Int32, _ text: String) {
        Array(text.utf8).withBytes { end(status, $0) }
    }
}

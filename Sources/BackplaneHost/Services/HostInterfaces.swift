import Backplane
import CBackplane

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

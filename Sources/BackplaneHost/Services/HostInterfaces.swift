import Backplane
import CBackplane

/// The host's services, which plugins look up by id and revision.
enum HostInterfaces {
    static let get: bp_get_interface = { id, revision in
        switch (id.text, revision) {
        case (BP_LOG, 1): return UnsafeRawPointer(log.pointer)
        case (BP_CALLS, 1): return UnsafeRawPointer(calls.pointer)
        case (BP_HTTP, 1): return UnsafeRawPointer(http.pointer)
        case (BP_STORE, 1): return UnsafeRawPointer(store.pointer)
        default: return nil
        }
    }

    private static let log = ConstantPointer(forever([logFunctions])!)
    private static let calls = ConstantPointer(forever([callFunctions])!)
    private static let http = ConstantPointer(forever([httpFunctions])!)
    private static let store = ConstantPointer(forever([storeFunctions])!)
}

import Backplane
import CBackplane

/// The host's services as plugins fetch them, by id and revision.
enum HostInterfaces {
    static let get: bp_get_interface = { id, revision in
        switch (id.text, revision) {
        case (BP_LOG, 1): return UnsafeRawPointer(log.table)
        case (BP_CALLS, 1): return UnsafeRawPointer(calls.table)
        case (BP_HTTP, 1): return UnsafeRawPointer(http.table)
        case (BP_STORE, 1): return UnsafeRawPointer(store.table)
        default: return nil
        }
    }

    private static let log = Kept(logFunctions)
    private static let calls = Kept(callFunctions)
    private static let http = Kept(httpFunctions)
    private static let store = Kept(storeFunctions)

    /// A function table that lives as long as the process.
    private struct Kept<Table>: @unchecked Sendable {       // constant
        let table: UnsafePointer<Table>

        init(_ table: Table) {
            let pointer = UnsafeMutablePointer<Table>.allocate(capacity: 1)
            pointer.initialize(to: table)
            self.table = UnsafePointer(pointer)
        }
    }
}

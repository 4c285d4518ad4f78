import Backplane
import Synchronization

/// The handles by which components identify themselves to the host's services.
///
/// A handle is a number that is never reused, so that a context kept after its component or its host has ended is
/// refused without harm. The functions of a service's table receive only a handle: they have no context of the host,
/// and the table itself is constant. Therefore one table per process contains the handles of all hosts.
enum ComponentHandles {
    private static let components = Mutex<[UInt64: OfferedServices]>([:])
    private static let next = Atomic<UInt64>(1)

    static func add(_ component: OfferedServices) -> UInt64 {
        let handle = next.wrappingAdd(1, ordering: .relaxed).oldValue
        components.withLock { $0[handle] = component }
        return handle
    }

    static func remove(_ handle: UInt64) {
        components.withLock { _ = $0.removeValue(forKey: handle) }
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
        components.withLock { $0[handle] }
    }
}

import Backplane
import Synchronization

/// The handles that components call the host's services with.
///
/// A handle is a number that is never reused, so that a context kept after its component, or its host, is gone is refused
/// and nothing worse. The functions of a service's table get nothing else: no context of the host's, and the table itself is
/// constant. So the handles of all hosts are in one table for the process.
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

    /// - Throws: `call.retired` once it was removed, `role.forbidden` for a handle that nobody was given.
    static func require(_ handle: UInt64) throws(BackplaneError) -> OfferedServices {
        if let component = find(handle) { return component }
        guard (1..<next.load(ordering: .relaxed)).contains(handle) else {
            throw BackplaneError(.roleForbidden, "no component has the handle \(handle); pass the one that bp_creation gave")
        }
        throw .askerStopped
    }

    static func find(_ handle: UInt64) -> OfferedServices? {
        components.withLock { $0[handle] }
    }
}

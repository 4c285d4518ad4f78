import Backplane
import Synchronization

/// A component as the host's services know it.
final class ServedComponent: Sendable {
    let role: Role
    let name: String
    let log: any LogSink
    let exchanges: Exchanges

    init(role: Role, name: String, log: any LogSink, exchanges: Exchanges) {
        (self.role, self.name, self.log, self.exchanges) = (role, name, log, exchanges)
    }
}

/// The handles that components call the host's services with.
///
/// A handle is a number that is never reused, so that a context kept after its component, or its host, is gone is refused
/// and nothing worse. A C function has nothing but that number, so the table is one for the process.
enum ComponentHandles {
    private static let components = Mutex<[UInt64: ServedComponent]>([:])
    private static let next = Atomic<UInt64>(1)

    static func add(_ component: ServedComponent) -> UInt64 {
        let handle = next.wrappingAdd(1, ordering: .relaxed).oldValue
        components.withLock { $0[handle] = component }
        return handle
    }

    static func remove(_ handle: UInt64) {
        components.withLock { _ = $0.removeValue(forKey: handle) }
    }

    static func find(_ handle: UInt64) -> ServedComponent? {
        components.withLock { $0[handle] }
    }
}

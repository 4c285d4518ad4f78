import Backplane
import Synchronization

/// A component as the host's services know it.
final class ServedComponent: Sendable {
    let role: Role
    let name: String
    let log: any LogSink
    let exchanges: Exchanges
    let store: HostStore
    /// Where its records are in the store.
    let namespace: String
    /// Its wires by handle, for components that call through the host.
    let wires: [UInt64: ServedWire]
    /// What the host still owes it an answer for.
    private let operations = Mutex((count: 0, isClosed: false))

    init(
        role: Role, name: String, log: any LogSink, exchanges: Exchanges, store: HostStore, namespace: String, wires: [UInt64: ServedWire]
    ) {
        (self.role, self.name, self.log, self.exchanges) = (role, name, log, exchanges)
        (self.store, self.namespace, self.wires) = (store, namespace, wires)
    }

    /// Counts an operation in, whose answer goes to the component; ``end()`` follows once it was given.
    ///
    /// - Throws: `call.retired` once the component was closed.
    func begin() throws(BackplaneError) {
        let isOpen = operations.withLock { operations in
            if !operations.isClosed { operations.count += 1 }
            return !operations.isClosed
        }
        if !isOpen { throw .askerStopped }
    }

    func end() {
        operations.withLock { $0.count -= 1 }
    }

    /// Refuses what comes, and ends the exchanges under way.
    func close() {
        operations.withLock { $0.isClosed = true }
        exchanges.cancelAll()
    }

    var isBusy: Bool { operations.withLock { $0.count > 0 } }

    /// - Throws: `role.forbidden` unless it has one of the roles.
    func require(_ roles: Role..., for service: String) throws(BackplaneError) {
        guard !roles.contains(role) else { return }
        let allowed = roles.map { "\($0)s" }.joined(separator: " and ")
        throw BackplaneError(.roleForbidden, "\(name) is a \(role); only \(allowed) use \(service)")
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

    /// - Throws: `call.retired` once it was removed, `role.forbidden` for a handle that nobody was given.
    static func require(_ handle: UInt64) throws(BackplaneError) -> ServedComponent {
        if let component = find(handle) { return component }
        guard (1..<next.load(ordering: .relaxed)).contains(handle) else {
            throw BackplaneError(.roleForbidden, "no component has the handle \(handle); pass the one that bp_creation gave")
        }
        throw .askerStopped
    }

    static func find(_ handle: UInt64) -> ServedComponent? {
        components.withLock { $0[handle] }
    }
}

extension BackplaneError {
    fileprivate static var askerStopped: BackplaneError { BackplaneError(.callRetired, "the component that asks has stopped") }
}

import Backplane
import Synchronization

/// The host program's own wires, one for each manager and contract however often it is looked up.
///
/// Behind a lock rather than in the coordinator: looking up what is there already takes no turn on its thread.
final class RemoteTable: Sendable {
    private struct Key: Hashable {
        let manager: String
        let contract: ObjectIdentifier

        // Managers of one name are few; their contracts need not be hashed.
        func hash(into hasher: inout Hasher) { hasher.combine(manager) }
    }
    private let slots = Mutex<[Key: Slot]>([:])

    func find<C: Contract>(_ manager: String, _: C.Type) -> Slot? {
        slots.withLock { $0[Key(manager: manager, contract: ObjectIdentifier(C.self))] }
    }

    func add<C: Contract>(_ slot: Slot, _ manager: String, _: C.Type) {
        slots.withLock { $0[Key(manager: manager, contract: ObjectIdentifier(C.self))] = slot }
    }

    /// What is looked up from now on goes to the coordinator, which says why not.
    func clear() {
        slots.withLock { $0 = [:] }
    }
}

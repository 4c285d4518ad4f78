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
    private struct State {
        var slots: [Key: Slot] = [:]
        /// The managers that are up.
        var up: Set<String> = []
    }
    private let state = Mutex(State())

    /// `nil` also for a manager that is not up: why not, the coordinator knows.
    func find<C: Contract>(_ manager: String, _: C.Type) -> Slot? {
        state.withLock { state in
            guard state.up.contains(manager) else { return nil }
            return state.slots[Key(manager: manager, contract: ObjectIdentifier(C.self))]
        }
    }

    func add<C: Contract>(_ slot: Slot, _ manager: String, _: C.Type) {
        state.withLock { $0.slots[Key(manager: manager, contract: ObjectIdentifier(C.self))] = slot }
    }

    func open(_ node: Plan.Node) {
        guard node.role == .manager else { return }
        state.withLock { _ = $0.up.insert(node.name) }
    }

    func close(_ node: Plan.Node) {
        guard node.role == .manager else { return }
        state.withLock { _ = $0.up.remove(node.name) }
    }

    /// What is looked up from now on goes to the coordinator, which says why not.
    func clear() {
        state.withLock { $0 = State() }
    }
}

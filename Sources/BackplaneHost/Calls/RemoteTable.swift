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
        /// Those of managers that serve another contract now; they may serve this one again.
        var refused: Set<Slot> = []
    }
    private let state = Mutex(State())

    /// `nil` also for a manager that is not up, or serves another contract: why, the coordinator knows.
    func find<C: Contract>(_ manager: String, _: C.Type) -> Slot? {
        state.withLock { state in
            guard state.up.contains(manager) else { return nil }
            guard let slot = state.slots[Key(manager: manager, contract: ObjectIdentifier(C.self))] else { return nil }
            return state.refused.isEmpty || !state.refused.contains(slot) ? slot : nil
        }
    }

    func add<C: Contract>(_ slot: Slot, _ manager: String, _: C.Type) {
        state.withLock { $0.slots[Key(manager: manager, contract: ObjectIdentifier(C.self))] = slot }
    }

    /// - Parameter refused: the slots that its contract does not fit.
    func open(_ node: Plan.Node, but refused: Set<Slot>) {
        guard node.role == .manager else { return }
        state.withLock { state in
            state.up.insert(node.name)
            guard !refused.isEmpty || !state.refused.isEmpty else { return }
            for (key, slot) in state.slots where key.manager == node.name {
                if refused.contains(slot) { state.refused.insert(slot) } else { state.refused.remove(slot) }
            }
        }
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

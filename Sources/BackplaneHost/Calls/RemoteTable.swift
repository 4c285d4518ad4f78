import Backplane
import Synchronization

/// The wires of the host program, one for each manager and contract, regardless of how often it is looked up.
///
/// The wires are protected by a lock rather than the coordinator, so that repeated lookups do not need its thread.
final class RemoteTable: Sendable {
    private struct Key: Hashable {
        let manager: String
        let contract: ObjectIdentifier

        // Hashing the manager's name is enough, since few contracts are looked up under one name.
        func hash(into hasher: inout Hasher) { hasher.combine(manager) }
    }
    private struct State {
        var slots: [Key: Slot] = [:]
        /// The managers that are running.
        var up: Set<String> = []
        /// The slots of managers that now serve another contract and may serve the slot's contract again.
        var refused: Set<Slot> = []
    }
    private let state = Mutex(State())

    /// Returns the slot, or `nil` if the coordinator must be queried, which knows why a manager cannot be called.
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

    /// Marks a manager as running.
    ///
    /// - Parameter refused: The slots whose contract the manager does not serve.
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

    /// Renames managers together with their wires.
    ///
    /// - Parameter names: The earlier and the later name of each manager.
    func rename(_ names: [(from: String, to: String)]) {
        guard !names.isEmpty else { return }
        let later = Dictionary(names.map { ($0.from, $0.to) }, uniquingKeysWith: { first, _ in first })
        state.withLock { state in
            var slots: [Key: Slot] = [:]
            // A wire to an earlier manager that had the new name still leads to that manager, but is no longer found.
            let taken = Set(later.values)
            for (key, slot) in state.slots {
                if let name = later[key.manager] {
                    slots[Key(manager: name, contract: key.contract)] = slot
                } else if !taken.contains(key.manager) {
                    slots[key] = slot
                }
            }
            let up = Set(state.up.compactMap { later[$0] })
            state.up = state.up.subtracting(later.keys).union(up)
            state.slots = slots
        }
    }

    /// Removes all wires, so that every lookup goes to the coordinator, which knows why it fails.
    func clear() {
        state.withLock { $0 = State() }
    }
}

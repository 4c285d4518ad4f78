import Backplane
import BackplaneBoundary

/// The look-ups of the host program.
extension Coordinator {
    /// Returns a manager by its name, started if it is not up.
    func running(_ manager: String) async throws(BackplaneError) -> RunningComponent {
        try await startup.running(manager)
    }

    func slot<C: Contract>(to manager: String, as _: C.Type) async throws(BackplaneError) -> Slot {
        let component = try await startup.running(manager)
        if let slot = remotes.find(manager, C.self) { return slot }
        try live.requireRunning()
        let consumer = try LaneSide(program: C.self)
        try component.node.requireService(of: consumer.contract)
        let slot = live.connections.connectProgram(
            ConsumerEnd(side: consumer) { Cells(C.self, calling: $0) }, to: component)
        remotes.add(slot, manager, C.self)
        return slot
    }

    /// Returns the wire for the host program's calls by name to a manager, which is started if it is not up.
    func names(of manager: String) async throws(BackplaneError) -> ServedWire {
        let component = try await startup.running(manager)
        if let wire = namedWires[manager] { return wire }
        let wire = live.connections.connectNames(to: component)
        namedWires[manager] = wire
        return wire
    }

    /// Returns the slot of a manager that was looked up before, without waiting for the coordinator's thread.
    nonisolated func knownSlot<C: Contract>(to manager: String, as _: C.Type) -> Slot? {
        remotes.find(manager, C.self)
    }

    /// Returns the gate of a manager, which is started if it is not up.
    func gate(of manager: String) async throws(BackplaneError) -> Gate {
        try await startup.running(manager).gate
    }
}

import Backplane
import BackplaneBoundary

/// The lookups of the host program.
extension Coordinator {
    /// Returns a manager by its name, starting it if it is not running.
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

    /// Returns the wire for the host program's calls by name to a manager, which is started if it is not running.
    func names(of manager: String) async throws(BackplaneError) -> ServedWire {
        let component = try await startup.running(manager)
        // A renamed manager takes its gate along.
        if let wire = namedWires[manager], wire.leads(through: component.gate) { return wire }
        let wire = live.connections.connectNames(to: component)
        namedWires[manager] = wire
        return wire
    }

    /// Returns the slot of a manager that was looked up earlier, without waiting for the coordinator's thread.
    nonisolated func knownSlot<C: Contract>(to manager: String, as _: C.Type) -> Slot? {
        remotes.find(manager, C.self)
    }

    /// Returns the managers that serve a contract, without starting them.
    func providers<C: Contract>(of _: C.Type) -> [ManagerDescription] {
        live.loaded.plan.providers(of: ContractDescription(of: C.self))
    }

    /// Returns the slot of the first running manager that serves a contract and meets a condition.
    func resolve<C: Contract>(_: C.Type, where isWanted: (ManagerDescription) -> Bool) async throws(BackplaneError)
        -> Slot
    {
        try live.requireRunning()
        let providers = providers(of: C.self).filter(isWanted)
        let isUp = { [live] (name: String) in live.loaded.plan.managers[name].map { live.nodes[$0].running != nil } }
        if let provider = providers.first(where: { isUp($0.name) == true }) {
            return try await slot(to: provider.name, as: C.self)
        }
        let names = providers.map { "`\($0.name)`" }.joined(separator: ", ")
        throw BackplaneError(
            .unknownManager,
            "no running manager provides \(C.name) \(C.version)"
                + (names.isEmpty ? "" : " and meets the condition; not running: \(names)"))
    }

    /// Returns the gate of a manager, which is started if it is not running.
    func gate(of manager: String) async throws(BackplaneError) -> Gate {
        try await startup.running(manager).gate
    }
}

/// The managers of a coordinator, as accessed by the network.
struct CoordinatorManagers: NetworkManagers.Finder {
    private weak let coordinator: Coordinator?

    init(_ coordinator: Coordinator) { self.coordinator = coordinator }

    func manager<C: Contract>(_ name: String, as contract: C.Type) async throws(BackplaneError) -> Remote<C> {
        guard let coordinator else { throw .hostHasStopped }
        if let slot = coordinator.knownSlot(to: name, as: contract) { return Remote(slot) }
        try coordinator.requireThreads()
        return Remote(try await coordinator.slot(to: name, as: contract))
    }
}

package import Backplane
import BackplaneDocuments

extension Composition {
    /// Returns the statuses that the wires of a node will have once it is running.
    package func wires(of node: Int) -> [WireStatus] {
        wires.filter { $0.user == node }.map { wire in
            WireStatus(
                user: plan.nodes[wire.user].name, label: wire.label, provider: plan.nodes[wire.provider].name,
                contract: wire.contract,
                version: wire.version, lane: wire.lane)
        }
    }

    /// An entry of a manager's `uses`: another manager that it calls.
    package struct Use: Sendable, Hashable {
        package var label: String
        package var manager: String
        /// The name of the used manager as written in the manifest.
        package var written: String
        package var location: String
    }

    package func uses(of manager: String) -> [Use] {
        let path = document.dialect.managers / manager / "uses"
        return (document.manifest.managers[manager]?.uses ?? [:]).sorted { $0.key < $1.key }.map { label, used in
            Use(
                label: label, manager: used, written: document.shown(used, at: path / label),
                location: document.place(of: path / label))
        }
    }

    /// A wire that a class declares and for which the manifest defines no provider.
    package struct MissingWire: Sendable {
        package var manager: String
        package var user: Catalogue.Entry
        package var wire: WireDescription
        /// The component classes that could be its provider.
        package var candidates: [Catalogue.Entry]
    }

    /// Returns the wires without a provider, manager by manager, including optional ones.
    package func missingWires() -> [MissingWire] {
        managerNames.flatMap { name -> [MissingWire] in
            guard let manager = document.manifest.managers[name] else { return [] }
            let path = document.dialect.managers / name
            return definitions(of: name).flatMap { definition -> [MissingWire] in
                guard let user = choice(for: definition) else { return [] }
                return user.component.wires.compactMap { wire in
                    let socket = manager.socket(of: wire.label, of: definition.role, at: path)
                    return socket.isFilled
                        ? nil
                        : MissingWire(manager: name, user: user, wire: wire, candidates: candidates(for: wire, socket))
                }
            }
        }
    }

    private func candidates(for wire: WireDescription, _ socket: Socket) -> [Catalogue.Entry] {
        catalogue.entries.filter {
            $0.component.role == socket.role && $0.component.contract.difference(from: wire.contract) == nil
        }
    }
}

package import Backplane
import BackplaneDocuments

extension Composition {
    /// What the wires of a node will say of themselves once it is up.
    package func wires(of node: Int) -> [WireStatus] {
        wires.filter { $0.user == node }.map { wire in
            WireStatus(
                user: plan.nodes[wire.user].name, label: wire.label, provider: plan.nodes[wire.provider].name, contract: wire.contract,
                version: wire.version, lane: wire.lane)
        }
    }

    /// A use of another manager, as a manager's definition has it.
    package struct Use: Sendable, Hashable {
        package var label: String
        package var manager: String
        /// The same as the manifest has it.
        package var written: String
        package var location: String
    }

    package func uses(of manager: String) -> [Use] {
        let path = document.dialect.managers / manager / "uses"
        return (document.manifest.managers[manager]?.uses ?? [:]).sorted { $0.key < $1.key }.map { label, used in
            Use(label: label, manager: used, written: document.shown(used, at: path / label), location: document.place(of: path / label))
        }
    }

    /// A wire that a class declares and the manifest gives nothing.
    package struct MissingWire: Sendable {
        package var manager: String
        package var user: Catalogue.Entry
        package var wire: WireDescription
        /// The components that could be given it.
        package var candidates: [Catalogue.Entry]
    }

    /// The wires of all managers that nothing is given, manager by manager; optional ones too.
    package func missingWires() -> [MissingWire] {
        managerNames.flatMap { name -> [MissingWire] in
            guard let manager = document.manifest.managers[name] else { return [] }
            let path = document.dialect.managers / name
            return definitions(of: name).flatMap { definition -> [MissingWire] in
                guard let user = choice(for: definition) else { return [] }
                return user.component.wires.compactMap { wire in
                    let socket = manager.socket(of: wire.label, of: definition.role, at: path)
                    return socket.isFilled ? nil : MissingWire(manager: name, user: user, wire: wire, candidates: candidates(for: wire, socket))
                }
            }
        }
    }

    private func candidates(for wire: WireDescription, _ socket: Socket) -> [Catalogue.Entry] {
        catalogue.entries.filter { $0.component.role == socket.role && $0.component.contract.difference(from: wire.contract) == nil }
    }
}

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
    package struct MissingWire: Sendable, Hashable {
        package var manager: String
        package var user: Catalogue.Entry
        package var wire: WireDescription
        /// The components that could be given it.
        package var candidates: [Catalogue.Entry]
    }

    /// The wires of all managers that nothing is given, manager by manager; optional ones too.
    package func missingWires() -> [MissingWire] {
        managerNames.flatMap { name in
            parts(of: name).flatMap { part -> [MissingWire] in
                guard let user = choice(for: part) else { return [] }
                let given = labelsGiven(to: part.role, in: name)
                return user.component.wires.filter { !given.contains($0.label) }.map { wire in
                    MissingWire(manager: name, user: user, wire: wire, candidates: candidates(for: wire, of: part.role))
                }
            }
        }
    }

    /// The labels that the manifest gives something.
    private func labelsGiven(to role: Role, in manager: String) -> Set<String> {
        guard let definition = document.manifest.managers[manager] else { return [] }
        switch role {
        case .manager:
            var labels = Set(definition.uses.keys)
            if definition.dataAccessController != nil { labels.insert(ReservedLabel.dataAccessController) }
            if definition.communicationController != nil { labels.insert(ReservedLabel.communicationController) }
            return labels
        case .communicationController: return Set(definition.communicationController?.services.map(\.propertyName) ?? [])
        case .dataAccessController, .networkService: return []
        }
    }

    private func candidates(for wire: WireDescription, of role: Role) -> [Catalogue.Entry] {
        let providers: Role =
            switch wire.label {
            case _ where role == .communicationController: .networkService
            case ReservedLabel.dataAccessController: .dataAccessController
            case ReservedLabel.communicationController: .communicationController
            default: .manager
            }
        return catalogue.entries.filter { entry in
            entry.component.role == providers && entry.component.contract.map { $0.name == wire.contract.name && $0.version.serves(wire.contract.version) } ?? false
        }
    }
}

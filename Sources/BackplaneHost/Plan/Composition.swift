package import Backplane
package import BackplaneDocuments

/// The result of resolving a manifest with its plugins, as a value for tools; none of the plugins' components runs.
package struct Composition: Sendable {
    package let document: ManifestDocument
    package let catalogue: Catalogue
    package let plan: Plan
    /// The problems of the manifest and its plugins.
    package let problems: [Problem]
    /// The plugins linked into the program, then those of the manifest, in the `order` of catalogue entries.
    package let plugins: [PluginOrigin]
    /// The wires of the plan, in the order of their users and labels.
    package let wires: [PlannedWire]

    /// A loaded plugin and its library.
    package struct PluginOrigin: Sendable, Hashable {
        package var id: String
        package var version: Version
        /// The path at which its library was built; `nil` if it is linked into this program.
        package var library: String?
    }

    /// A wire of the plan.
    package struct PlannedWire: Sendable, Hashable {
        /// The id of the calling node.
        package var user: Int
        /// The id of the node that is called.
        package var provider: Int
        /// The status that the wire will have once it is running.
        package var status: WireStatus
    }
}

extension Composition {
    /// The names of all managers, including those with errors, sorted.
    package var managerNames: [String] {
        (Array(plan.managers.keys) + plan.faults.keys).sorted()
    }

    /// Whether there are only errors of the manifest itself, which could not be read or has no managers.
    package var isEmpty: Bool {
        plan.managers.isEmpty && plan.faults.isEmpty && problems.contains { $0.severity == .error }
    }

    /// Returns the positions of locations of the manifest in its JSON text, in one pass over the text.
    package func positions(of locations: some Sequence<String>) -> [String: SourcePosition] {
        document.text.map { SourcePosition.positions(of: Array(Set(locations)), in: $0) } ?? [:]
    }

    /// Returns the error for a manager that does not exist, with suggestions of similar names.
    package func unknownManager(_ name: String) -> BackplaneError {
        .unknownManager(
            name, among: managerNames, at: document.path,
            causes: problems.filter { $0.severity == .error && $0.manager == nil }.map(\.error))
    }
}

extension Composition {
    /// An entry of a manager's `uses`: another manager that it calls.
    package struct Use: Sendable, Hashable {
        package var label: String
        package var manager: String
        /// The name of the used manager as written in the manifest.
        package var written: String
        package var location: String
    }

    package func uses(of manager: String) -> [Use] {
        let path = ManifestPath.managers / manager / "uses"
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
            let path = ManifestPath.managers / name
            return document.definitions(of: name).flatMap { definition -> [MissingWire] in
                guard let user = catalogue.entry(for: definition) else { return [] }
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

extension Composition {
    /// Returns the plan's node at an address; `nil` if its manager has errors.
    package func node(at address: ComponentAddress) -> Plan.Node? {
        guard let id = plan.managers[address.manager] else { return nil }
        guard address.role != .manager else { return plan.nodes[id] }
        let layers = plan.layers(of: plan.nodes[id])
        guard let property = address.property else { return layers.first { $0.role == address.role } }
        let controller = layers.first { $0.role == .communicationController }
        return controller?.wires.first { $0.label == property }.map { plan.nodes[$0.provider] }
    }
}

extension Composition {
    /// Returns the location at which the manifest defines a manager.
    package func location(of manager: String) -> String {
        document.place(of: ManifestPath.managers / manager)
    }
}

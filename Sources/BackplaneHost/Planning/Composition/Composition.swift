package import Backplane
package import BackplaneDocuments

/// What a manifest came to with its plugins, as tools look at it: a value, of which nothing runs.
package struct Composition: Sendable {
    package let document: ManifestDocument
    package let catalogue: Catalogue
    package let plan: Plan
    /// Of the manifest and of its plugins.
    package let problems: [Problem]
    /// Those that are linked into the program, then those of the manifest; a component's `order` is its plugin's place here.
    package let plugins: [PluginOrigin]
    /// The wires of the plan, in the order of their users and their labels.
    package let wires: [PlannedWire]

    package init(
        _ document: ManifestDocument, catalogue: Catalogue, plan: Plan, problems: [Problem], plugins: [PluginOrigin], wires: [PlannedWire]
    ) {
        (self.document, self.catalogue, self.plan, self.problems) = (document, catalogue, plan, problems)
        (self.plugins, self.wires) = (plugins, wires)
    }

    /// A plugin that was loaded, and where from.
    package struct PluginOrigin: Sendable, Hashable {
        package var id: String
        package var version: Version
        /// Where its library was built; `nil`: it is linked into this program.
        package var library: String?

        package init(id: String, version: Version, library: String?) {
            (self.id, self.version, self.library) = (id, version, library)
        }
    }

    /// A wire of the plan, and how its calls will cross.
    package struct PlannedWire: Sendable, Hashable {
        /// The id of the node that calls.
        package var user: Int
        package var label: String
        /// The id of the node that is called.
        package var provider: Int
        package var contract: String
        /// Of the contract, as the user knows it.
        package var version: Version
        package var lane: WireStatus.Lane

        package init(user: Int, label: String, provider: Int, contract: String, version: Version, lane: WireStatus.Lane) {
            (self.user, self.label, self.provider) = (user, label, provider)
            (self.contract, self.version, self.lane) = (contract, version, lane)
        }
    }
}

extension Composition {
    /// The names of all managers, sound or not, sorted.
    package var managerNames: [String] {
        (Array(plan.managers.keys) + plan.faults.keys).sorted()
    }

    /// Whether there is nothing but errors of the manifest itself: it could not be read, or has no managers.
    package var isEmpty: Bool {
        plan.managers.isEmpty && plan.faults.isEmpty && problems.contains { $0.severity == .error }
    }

    /// Where places of the manifest are in its text, if that is JSON; one pass over it.
    package func positions(of locations: some Sequence<String>) -> [String: SourcePosition] {
        let places = Set(locations).map { Problem(.warning, manager: nil, BackplaneError(.manifestUnknownKey, "", at: $0)) }
        return document.positioning(places).reduce(into: [:]) { positions, place in
            if let location = place.error.location { positions[location] = place.position }
        }
    }

    /// What is said of a manager that does not exist, with names like it.
    package func unknownManager(_ name: String) -> BackplaneError {
        .unknownManager(
            name, among: managerNames, at: document.path, causes: problems.filter { $0.severity == .error && $0.manager == nil }.map(\.error))
    }
}

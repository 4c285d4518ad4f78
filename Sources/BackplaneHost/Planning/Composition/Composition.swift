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

    package init(
        _ document: ManifestDocument, catalogue: Catalogue, plan: Plan, problems: [Problem], plugins: [PluginOrigin],
        wires: [PlannedWire]
    ) {
        (self.document, self.catalogue, self.plan, self.problems) = (document, catalogue, plan, problems)
        (self.plugins, self.wires) = (plugins, wires)
    }

    /// A loaded plugin and its library.
    package struct PluginOrigin: Sendable, Hashable {
        package var id: String
        package var version: Version
        /// The path at which its library was built; `nil` if it is linked into this program.
        package var library: String?

        package init(id: String, version: Version, library: String?) {
            (self.id, self.version, self.library) = (id, version, library)
        }
    }

    /// A wire of the plan and the lane that its calls will use.
    package struct PlannedWire: Sendable, Hashable {
        /// The id of the calling node.
        package var user: Int
        package var label: String
        /// The id of the node that is called.
        package var provider: Int
        package var contract: String
        /// The version of the contract with which the user was compiled.
        package var version: Version
        package var lane: WireStatus.Lane

        package init(user: Int, label: String, provider: Int, contract: String, version: Version, lane: WireStatus.Lane)
        {
            (self.user, self.label, self.provider) = (user, label, provider)
            (self.contract, self.version, self.lane) = (contract, version, lane)
        }
    }
}

extension Composition {
    /// The names of all managers, including those with errors, sorted.
    package var managerNames: [String] {
        (Array(plan.managers.keys) + plan.faults.keys).sorted()
    }

    /// A Boolean value that indicates whether there are only errors of the manifest itself.
    ///
    /// It is `true` if the manifest could not be read or has no managers.
    package var isEmpty: Bool {
        plan.managers.isEmpty && plan.faults.isEmpty && problems.contains { $0.severity == .error }
    }

    /// Returns the positions of locations of the manifest in its JSON text, in one pass over the text.
    package func positions(of locations: some Sequence<String>) -> [String: SourcePosition] {
        let places = Set(locations).map {
            Problem(.warning, manager: nil, BackplaneError(.manifestUnknownKey, "", at: $0))
        }
        return document.positioning(places).reduce(into: [:]) { positions, place in
            if let location = place.error.location { positions[location] = place.position }
        }
    }

    /// Returns the error for a manager that does not exist, with suggestions of similar names.
    package func unknownManager(_ name: String) -> BackplaneError {
        .unknownManager(
            name, among: managerNames, at: document.path,
            causes: problems.filter { $0.severity == .error && $0.manager == nil }.map(\.error))
    }
}

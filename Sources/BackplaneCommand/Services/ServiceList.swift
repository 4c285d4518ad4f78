import Backplane
import BackplaneHost

/// The components that each plugin registers, their users, and the wires that are not connected.
struct ServiceList: Codable, Sendable {
    var plugins: [ListedPlugin]
    var missing: [MissingWire]

    struct ListedPlugin: Codable, Sendable {
        var id: String
        var version: String
        /// The path at which the library was built, or `nil` if the plugin is linked into this program.
        var library: String?
        var components: [ListedComponent]
    }

    struct ListedComponent: Codable, Sendable {
        var role: String
        var className: String
        var version: String
        var contract: String?
        var contractVersion: String?
        /// The streams of the contract; `nil` if it has none.
        var streams: [String]?
        /// The managers whose definitions use the component, sorted by name.
        var usedBy: [String]
    }

    struct MissingWire: Codable, Sendable {
        var manager: String
        var className: String
        var label: String
        var contract: String
        var version: String
        var isOptional: Bool
        /// The components to which the wire could be connected.
        var candidates: [String]
    }
}

extension ServiceList {
    init(_ composition: Composition) {
        var users: [Catalogue.Entry: Set<String>] = [:]
        for manager in composition.managerNames {
            for definition in composition.definitions(of: manager) {
                if let entry = composition.choice(for: definition) { users[entry, default: []].insert(manager) }
            }
        }
        let entries = Dictionary(grouping: composition.catalogue.entries, by: \.order)
        plugins = composition.plugins.enumerated().map { order, plugin in
            let components = (entries[order] ?? []).sorted { a, b in
                (a.component.role.rawValue, a.component.className, a.index) < (
                    b.component.role.rawValue, b.component.className, b.index
                )
            }
            return ListedPlugin(
                id: plugin.id, version: plugin.version.description, library: plugin.library,
                components: components.map { ListedComponent($0.component, usedBy: (users[$0] ?? []).sorted()) })
        }
        missing = composition.missingWires().map(MissingWire.init)
    }
}

extension ServiceList.ListedComponent {
    fileprivate init(_ component: ComponentDescription, usedBy users: [String]) {
        (role, className, version) = (component.role.description, component.className, component.version.description)
        (contract, contractVersion, usedBy) = (component.contract?.name, component.contract?.version.description, users)
        streams = component.contract?.streams
    }
}

extension ServiceList.MissingWire {
    fileprivate init(_ missing: Composition.MissingWire) {
        (manager, className, label) = (missing.manager, missing.user.component.className, missing.wire.label)
        (contract, version, isOptional) = (
            missing.wire.contract.name, missing.wire.contract.version.description, missing.wire.isOptional
        )
        candidates = missing.candidates.map {
            "\($0.component.className) \($0.component.version) of plugin \($0.plugin)"
        }
    }
}

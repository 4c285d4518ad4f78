import BackplaneDocuments

/// The shape of a value in a manifest, which determines the order of its members in the text.
enum ManifestShape: MemberOrder {
    case root, plugins, plugin, managers, manager, dataAccessController, communicationController, services, service
    case environments, environment
    case section(ManifestSection)
    /// A dictionary whose keys are not part of the format, and whose members are sorted.
    case other

    /// Returns the shape of a whole manifest.
    static func whole(_ value: ManifestValue) -> ManifestShape {
        guard case .dictionary(let members) = value else { return .other }
        return members["manifestVersion"] == nil ? .managers : .root
    }

    var elements: ManifestShape {
        switch self {
        case .plugins: .plugin
        case .services: .service
        default: .other
        }
    }

    func member(_ key: String) -> ManifestShape {
        switch (self, key) {
        case (.root, "plugins"), (.environment, "plugins"): .plugins
        case (.root, "managers"), (.environment, "managers"): .managers
        case (.root, "environments"): .environments
        case (.environments, _): .environment
        case (.managers, _): .manager
        case (.manager, "dataAccessController"): .dataAccessController
        case (.manager, "communicationController"): .communicationController
        case (.communicationController, "services"): .services
        case (.root, _), (.environment, _): ManifestSection.all.first { $0.key == key }.map(Self.section) ?? .other
        default: .other
        }
    }

    /// Returns the members in the order in which they are written, beginning with known keys.
    func ordered(_ members: [String: ManifestValue]) -> [(key: String, value: ManifestValue)] {
        let known = keys?.all ?? []
        let first = known.compactMap { key in members[key].map { (key: key, value: $0) } }
        return first + members.filter { !known.contains($0.key) }.sorted { $0.key < $1.key }
    }

    private var keys: ManifestKeys? {
        switch self {
        case .root: .root
        case .environment: .environment
        case .plugin: .plugin
        case .manager: .manager
        case .dataAccessController: .dataAccessController
        case .communicationController: .communicationController
        case .service: .service
        case .section(let section): section.keys
        case .plugins, .managers, .services, .environments, .other: nil
        }
    }
}

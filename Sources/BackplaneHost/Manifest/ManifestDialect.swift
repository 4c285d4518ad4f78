/// The two shapes a manifest's root can have.
package enum ManifestDialect: Sendable, Hashable {
    /// Ours, with `manifestVersion`, `plugins` and `managers`.
    case backplane
    /// The root is itself the dictionary of managers.
    case nemoLogic

    /// Where the managers are.
    var managers: ManifestPath {
        switch self {
        case .backplane: ManifestPath() / "managers"
        case .nemoLogic: ManifestPath()
        }
    }
}

/// The keys that a dictionary of a manifest may have.
struct ManifestKeys {
    /// Those that Nemo Logic knows.
    var shared: [String]
    /// Those that only our own manifests have.
    var own: [String]

    static let root = ManifestKeys(shared: [], own: ["manifestVersion", "plugins", "managers"])
    static let plugin = ManifestKeys(shared: [], own: ["library", "version", "sha256", "resources"])
    static let manager = ManifestKeys(
        shared: ["className", "dataAccessController", "communicationController"], own: ["version", "activation", "uses", "configuration"])
    static let dataAccessController = ManifestKeys(shared: ["className"], own: ["version", "configuration", "namespace"])
    static let communicationController = ManifestKeys(shared: ["className", "services"], own: ["version", "configuration"])
    static let service = ManifestKeys(shared: ["className", "propertyName", "networkServiceConfiguration"], own: ["version"])
}

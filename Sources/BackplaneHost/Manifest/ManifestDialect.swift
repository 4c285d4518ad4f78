import BackplaneDocuments

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

import BackplaneDocuments

/// The two forms of a manifest's root.
package enum ManifestDialect: Sendable, Hashable {
    /// A root with `manifestVersion`, `plugins` and `managers`.
    case backplane
    /// A root that is the dictionary of managers itself, as in the framework Nemo Logic.
    case nemoLogic

    /// The path of the managers.
    var managers: ManifestPath {
        switch self {
        case .backplane: ManifestPath() / "managers"
        case .nemoLogic: ManifestPath()
        }
    }
}

import Backplane
import BackplaneDocuments

/// The place in a manager's definition where a wire of one of its components is given its provider.
struct Socket {
    /// Of the components that can be given there.
    let role: Role
    /// Whether the manifest gives one.
    let isFilled: Bool
    /// Of the provider's definition, or of what names it; of an empty one, where that would be.
    let path: ManifestPath
}

extension ManagerDefinition {
    /// The socket of a wire.
    ///
    /// - Parameters:
    ///   - label: the wire's.
    ///   - role: of the component that declares it.
    ///   - path: of this definition.
    func socket(of label: String, of role: Role, at path: ManifestPath) -> Socket {
        switch (role, label) {
        case (.manager, ReservedLabel.dataAccessController):
            return Socket(role: .dataAccessController, isFilled: dataAccessController != nil, path: path / label)
        case (.manager, ReservedLabel.communicationController):
            return Socket(role: .communicationController, isFilled: communicationController != nil, path: path / label)
        case (.manager, _):
            return Socket(role: .manager, isFilled: uses[label] != nil, path: path / "uses" / label)
        default:
            let index = communicationController?.services.firstIndex { $0.propertyName == label }
            let path = path / ReservedLabel.communicationController / "services"
            return Socket(role: .networkService, isFilled: index != nil && role == .communicationController, path: index.map { path / $0 } ?? path)
        }
    }
}

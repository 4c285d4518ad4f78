import Backplane
import BackplaneDocuments

/// The location in a manager's definition that determines the provider of a wire.
struct Socket {
    /// The role of the components that can be providers.
    let role: Role
    /// A Boolean value that indicates whether the manifest defines a provider.
    let isFilled: Bool
    /// The path of the provider's definition or name, or the path at which a missing one is expected.
    let path: ManifestPath
}

extension ManagerDefinition {
    /// Returns the socket of a wire.
    ///
    /// - Parameters:
    ///   - label: The label of the wire.
    ///   - role: The role of the component that declares it.
    ///   - path: The path of this definition.
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
            return Socket(
                role: .networkService, isFilled: index != nil && role == .communicationController,
                path: index.map { path / $0 } ?? path)
        }
    }
}

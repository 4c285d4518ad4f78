/// The layer to which a component belongs, which determines what its context offers.
public enum Role: UInt32, Sendable, Hashable, CaseIterable {
    /// The role that holds business logic.
    case manager = 1
    /// The role that stores data for a manager.
    case dataAccessController
    /// The role that carries out a manager's requests through network services.
    case communicationController
    /// The role that communicates with one endpoint.
    case networkService
}

extension Role: CustomStringConvertible {
    /// The role in lower-case words, such as `data access controller`.
    public var description: String {
        switch self {
        case .manager: "manager"
        case .dataAccessController: "data access controller"
        case .communicationController: "communication controller"
        case .networkService: "network service"
        }
    }
}

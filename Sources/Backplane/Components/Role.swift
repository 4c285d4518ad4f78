/// The layer that a component belongs to, which determines what its context offers.
public enum Role: UInt32, Sendable, Hashable, CaseIterable {
    /// Holds business logic.
    case manager = 1
    /// Stores data for a manager.
    case dataAccessController
    /// Carries out a manager's requests through network services.
    case communicationController
    /// Communicates with one endpoint.
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

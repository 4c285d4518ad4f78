/// The layer a component belongs to, which decides what its context offers.
public enum Role: UInt32, Sendable, Hashable, CaseIterable {
    case manager = 1
    case dataAccessController
    case communicationController
    case networkService
}

extension Role: CustomStringConvertible {
    public var description: String {
        switch self {
        case .manager: "manager"
        case .dataAccessController: "data access controller"
        case .communicationController: "communication controller"
        case .networkService: "network service"
        }
    }
}

/// What a context is made of: a component's configuration and wires, whatever their types, its folder and the host's services.
///
/// The contexts do not ask of their owner that it be a component, though it always is: to have one of them Swift's runtime would
/// look through all that is loaded for that, each time a plugin is loaded.
struct ContextParts: Sendable {
    private let values: (configuration: any Sendable, wires: any Sendable)
    let folder: String
    let services: ComponentServices

    init(configuration: any Sendable, wires: any Sendable, folder: String, services: ComponentServices) {
        (values, self.folder, self.services) = ((configuration, wires), folder, services)
    }

    func configuration<Value>() -> Value { values.configuration as! Value }      // what it was made of
    func wires<Value>() -> Value { values.wires as! Value }
}

extension ComponentContext {
    /// Makes the context of a role.
    ///
    /// - Precondition: it is one of the four of the SDK; the roles leave no other.
    static func made(of parts: ContextParts) -> Self {
        let context: any Sendable = switch role {
        case .manager: ManagerContext<Owner>(parts: parts)
        case .dataAccessController: DataAccessContext<Owner>(parts: parts)
        case .communicationController: CommunicationContext<Owner>(parts: parts)
        case .networkService: NetworkServiceContext<Owner>(parts: parts)
        }
        return context as! Self
    }
}

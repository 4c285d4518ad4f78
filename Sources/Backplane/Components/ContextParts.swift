/// The content of a context: a component's configuration and wires, type-erased, its folder and the host's services.
///
/// Contexts do not require their owner to be a component, although it always is. If they did, Swift's runtime would
/// search every loaded image for that conformance each time a plugin is loaded.
struct ContextParts: Sendable {
    private let values: (configuration: any Sendable, wires: any Sendable)
    let folder: String
    let services: ComponentServices

    init(configuration: any Sendable, wires: any Sendable, folder: String, services: ComponentServices) {
        (values, self.folder, self.services) = ((configuration, wires), folder, services)
    }

    func configuration<Value>() -> Value { values.configuration as! Value }  // what it was made of
    func wires<Value>() -> Value { values.wires as! Value }
}

extension ComponentContext {
    /// Creates the context of a role.
    ///
    /// - Precondition: The context is one of the SDK's four. The roles permit no other.
    static func made(of parts: ContextParts) -> Self {
        let context: any Sendable =
            switch role {
            case .manager: ManagerContext<Owner>(parts: parts)
            case .dataAccessController: DataAccessContext<Owner>(parts: parts)
            case .communicationController: CommunicationContext<Owner>(parts: parts)
            case .networkService: NetworkServiceContext<Owner>(parts: parts)
            }
        return context as! Self
    }
}

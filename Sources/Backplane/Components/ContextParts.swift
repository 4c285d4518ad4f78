import Glibc

/// The content of a context: a component's configuration and wires, type-erased, its folder and the host's services.
///
/// Contexts do not require their owner to conform to `Component`, although it always does. If they did, Swift's runtime
/// would search every loaded image for that conformance each time a plugin is loaded.
struct ContextParts: Sendable {
    private let values: (configuration: any Sendable, wires: any Sendable)
    let folder: String
    let services: ComponentServices

    init(configuration: any Sendable, wires: any Sendable, folder: String, services: ComponentServices) {
        (values, self.folder, self.services) = ((configuration, wires), folder, services)
    }

    // Both casts succeed: a `ComponentRecord` creates the parts with `Owner.Configuration` and `Owner.Wires`, and the
    // context of the same `Owner` asks for these types.

    func configuration<Value>() -> Value { values.configuration as! Value }
    func wires<Value>() -> Value { values.wires as! Value }
}

extension ContextParts {
    /// The path of the component's folder, which exists unless the system refuses to create it.
    var createdFolder: String {
        if !folder.isEmpty { makeFolders(folder) }
        return folder
    }

    /// Creates a folder and its missing parents, accessible to this user only.
    private func makeFolders(_ path: String) {
        guard mkdir(path, 0o700) != 0, errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex
        else { return }
        makeFolders(String(path[..<slash]))
        mkdir(path, 0o700)
    }
}

extension ComponentContext {
    /// Creates the context of a role.
    ///
    /// - Precondition: The context is one of the SDK's four; the roles permit no others.
    static func made(of parts: ContextParts) -> Self {
        let context: any Sendable =
            switch role {
            case .manager: ManagerContext<Owner>(parts: parts)
            case .dataAccessController: DataAccessContext<Owner>(parts: parts)
            case .communicationController: CommunicationContext<Owner>(parts: parts)
            case .networkService: NetworkServiceContext<Owner>(parts: parts)
            }
        // The precondition, which each role's protocol states as `Context == …Context<Self>`. The switch is over the
        // role of `Self`, so that it has created the one of the four types that `Self` is.
        return context as! Self
    }
}

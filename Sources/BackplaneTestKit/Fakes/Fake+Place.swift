extension Fake {
    /// Where in a manifest a fake stands: a manager, or a collaborator of one.
    public struct Place: Hashable, Sendable {
        enum Role: Hashable, Sendable {
            case manager(String)
            case addedManager(String)
            case use(String)
            case dataAccessController
            case communicationController
            case service(String)
        }
        let role: Role
        /// Whose collaborator it is; `nil`: the only manager's.
        let owner: String?

        /// A whole manager of the manifest, or one that is named under another's `uses`.
        public static func manager(_ name: String) -> Place { Place(role: .manager(name), owner: nil) }

        /// A manager that the manifest does not have, for components that look managers up.
        public static func addedManager(_ name: String) -> Place { Place(role: .addedManager(name), owner: nil) }

        /// What a manager calls by a label of its `uses`, whatever the manifest has there.
        ///
        /// - Parameter manager: its name; `nil`: the only one of the manifest. So in all places.
        public static func use(_ label: String, of manager: String? = nil) -> Place { Place(role: .use(label), owner: manager) }

        public static func dataAccessController(of manager: String) -> Place { Place(role: .dataAccessController, owner: manager) }
        public static var dataAccessController: Place { Place(role: .dataAccessController, owner: nil) }

        public static func communicationController(of manager: String) -> Place { Place(role: .communicationController, owner: manager) }
        public static var communicationController: Place { Place(role: .communicationController, owner: nil) }

        /// A network service by the property of the communication controller that receives it.
        public static func service(_ propertyName: String, of manager: String? = nil) -> Place { Place(role: .service(propertyName), owner: manager) }
    }
}

extension Fake.Place: CustomStringConvertible {
    /// For messages: "the communication controller of `LibraryManager`".
    public var description: String {
        let of = owner.map { " of `\($0)`" } ?? ""
        return switch role {
        case .manager(let name): "the manager `\(name)`"
        case .addedManager(let name): "the added manager `\(name)`"
        case .use(let label): "what is used as `\(label)`\(of)"
        case .dataAccessController: "the data access controller\(of)"
        case .communicationController: "the communication controller\(of)"
        case .service(let property): "the service `\(property)`\(of)"
        }
    }
}

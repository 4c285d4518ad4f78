extension Fake {
    /// The place of a fake in a manifest: a manager, or a collaborator of a manager.
    public struct Place: Hashable, Sendable {
        enum Position: Hashable, Sendable {
            case manager(String)
            case addedManager(String)
            case use(String)
            case dataAccessController
            case communicationController
            case service(String)
        }
        let position: Position
        /// The manager to which the collaborator belongs; `nil` for the manifest's only manager.
        let owner: String?

        /// Returns the place of a manager in the manifest, including a manager that is declared in another's `uses`.
        public static func manager(_ name: String) -> Place { Place(position: .manager(name), owner: nil) }

        /// Returns the place of a manager that is missing in the manifest, for components that look managers up.
        public static func addedManager(_ name: String) -> Place { Place(position: .addedManager(name), owner: nil) }

        /// Returns the place of the manager that another manager calls by a label of its `uses`.
        ///
        /// The fake replaces whatever the manifest assigns to the label.
        ///
        /// - Parameters:
        ///   - label: The key in the calling manager's `uses`.
        ///   - manager: The name of the calling manager; `nil` for the manifest's only manager.
        public static func use(_ label: String, of manager: String? = nil) -> Place {
            Place(position: .use(label), owner: manager)
        }

        /// Returns the place of a manager's data access controller.
        public static func dataAccessController(of manager: String) -> Place {
            Place(position: .dataAccessController, owner: manager)
        }
        /// The place of the data access controller of the manifest's only manager.
        public static var dataAccessController: Place { Place(position: .dataAccessController, owner: nil) }

        /// Returns the place of a manager's communication controller.
        public static func communicationController(of manager: String) -> Place {
            Place(position: .communicationController, owner: manager)
        }
        /// The place of the communication controller of the manifest's only manager.
        public static var communicationController: Place { Place(position: .communicationController, owner: nil) }

        /// Returns the place of a network service.
        ///
        /// - Parameters:
        ///   - propertyName: The property of the communication controller that receives the service.
        ///   - manager: The manager to which the controller belongs; `nil` for the manifest's only manager.
        public static func service(_ propertyName: String, of manager: String? = nil) -> Place {
            Place(position: .service(propertyName), owner: manager)
        }
    }
}

extension Fake.Place: CustomStringConvertible {
    /// The place in words, such as "the communication controller of `LibraryManager`".
    public var description: String {
        let of = owner.map { " of `\($0)`" } ?? ""
        return switch position {
        case .manager(let name): "the manager `\(name)`"
        case .addedManager(let name): "the added manager `\(name)`"
        case .use(let label): "the manager used as `\(label)`\(of)"
        case .dataAccessController: "the data access controller\(of)"
        case .communicationController: "the communication controller\(of)"
        case .service(let property): "the service `\(property)`\(of)"
        }
    }
}

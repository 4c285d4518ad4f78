public import Backplane
package import BackplaneDocuments

/// The definition of a manager and its collaborators in a manifest.
public struct ManagerDefinition: Sendable, Hashable {
    /// The name of the manager's class, as registered by its plugin; `nil` means the manager's name.
    public var className: String?
    /// The accepted versions of the class; `nil` accepts any, as in all definitions.
    public var version: VersionRange?
    /// The managers that this one calls, keyed by the labels of its class.
    public var uses: [String: String]
    /// The configuration passed to the manager.
    public var configuration: [String: ManifestValue]
    /// The definition of the component that stores the manager's data, if it has one.
    public var dataAccessController: ComponentDefinition?
    /// The definition of the component that communicates for the manager through its own services, if it has one.
    public var communicationController: ComponentDefinition?
    /// The time at which the manager starts.
    public var activation: Activation
    /// The former name of the manager, whose state it continues; `nil` if it has not been renamed.
    public var was: String?

    /// Creates the entry of a manager, which is added to the manifest under the manager's name.
    public init(
        className: String? = nil, version: VersionRange? = nil, uses: [String: String] = [:],
        configuration: [String: ManifestValue] = [:],
        dataAccessController: ComponentDefinition? = nil, communicationController: ComponentDefinition? = nil,
        activation: Activation = .eager, was: String? = nil
    ) {
        (self.className, self.version, self.uses, self.configuration) = (className, version, uses, configuration)
        (self.dataAccessController, self.communicationController) = (dataAccessController, communicationController)
        (self.activation, self.was) = (activation, was)
    }
}

/// The definition of a manager's collaborator: a data access controller, a communication controller, or its service.
public struct ComponentDefinition: Sendable, Hashable {
    /// The name of the component's class, as registered by its plugin.
    public var className: String
    /// The accepted versions of the class; `nil` accepts any.
    public var version: VersionRange?
    /// The property of the communication controller that receives a network service; `nil` for the controllers.
    public var propertyName: String?
    /// The configuration passed to the component.
    public var configuration: [String: ManifestValue]
    /// The definitions of a communication controller's network services, in the order of their creation.
    public var services: [ComponentDefinition]
    /// The name of the component's private folder.
    ///
    /// `nil` means the class name of a data access controller. Any other component has a folder named after its manager
    /// and, for a service, its property.
    public var namespace: String?
    /// The former namespace of a data access controller, whose folder and records it continues.
    public var was: String?

    /// Creates the definition of a component, which is part of a manager's entry or of a communication controller's.
    public init(
        className: String, version: VersionRange? = nil, propertyName: String? = nil,
        configuration: [String: ManifestValue] = [:], services: [ComponentDefinition] = [], namespace: String? = nil,
        was: String? = nil
    ) {
        (self.className, self.version, self.propertyName) = (className, version, propertyName)
        (self.configuration, self.services, self.namespace, self.was) = (configuration, services, namespace, was)
    }
}

/// The address of a component in a manifest: its manager, its role and, for a network service, its property.
package struct ComponentAddress: Sendable, Hashable {
    package var manager: String
    package var role: Role
    package var property: String?

    package init(manager: String, role: Role, property: String? = nil) {
        (self.manager, self.role, self.property) = (manager, role, property)
    }

    /// The label by which the manager, or its communication controller, reaches the component.
    var label: String {
        switch role {
        case .manager: ""
        case .dataAccessController: ReservedLabel.dataAccessController
        case .communicationController: ReservedLabel.communicationController
        case .networkService: property ?? ""
        }
    }

    /// The key of the definition in the manifest's lock.
    var lockKey: String {
        let key = manager.pointerStep
        return switch role {
        case .manager: key
        case .dataAccessController, .communicationController: "\(key)/\(label)"
        case .networkService: "\(key)/\(ReservedLabel.communicationController)/\(label.pointerStep)"
        }
    }
}

/// The definition of a manager or of one of its collaborators, with its address and its path in the manifest.
package struct PlacedDefinition: Sendable {
    package let address: ComponentAddress
    package let definition: ComponentDefinition
    let path: ManifestPath
    let configurationKey: String

    package init(
        _ definition: ComponentDefinition, at address: ComponentAddress, _ path: DocumentPath = DocumentPath(),
        configurationKey: String = "configuration"
    ) {
        (self.definition, self.address, self.path) = (definition, address, path)
        self.configurationKey = configurationKey
    }

    package var role: Role { address.role }
    package var className: String { definition.className }
    package var range: VersionRange? { definition.version }

    /// The name of the component's private folder, if the manifest specifies one or it is a data access controller.
    var namespace: String? { definition.namespace ?? (role == .dataAccessController ? className : nil) }

    var configurationPath: ManifestPath { path / configurationKey }
}

extension ManifestDocument {
    /// Returns the definitions of a manager and its collaborators; empty if the manager could not be read.
    ///
    /// A communication controller comes before its services.
    package func definitions(of manager: String) -> [PlacedDefinition] {
        guard let definition = manifest.managers[manager] else { return [] }
        let path = ManifestPath.managers / manager
        func placed(_ role: Role, _ definition: ComponentDefinition, _ path: ManifestPath) -> PlacedDefinition {
            PlacedDefinition(
                definition, at: ComponentAddress(manager: manager, role: role, property: definition.propertyName), path,
                configurationKey: nemoServices.contains(path) ? "networkServiceConfiguration" : "configuration")
        }
        let itself = ComponentDefinition(
            className: definition.className ?? manager, version: definition.version,
            configuration: definition.configuration, was: definition.was)
        var definitions = [placed(.manager, itself, path)]
        if let controller = definition.dataAccessController {
            definitions.append(
                placed(.dataAccessController, controller, path / ReservedLabel.dataAccessController))
        }
        if let controller = definition.communicationController {
            let path = path / ReservedLabel.communicationController
            definitions.append(placed(.communicationController, controller, path))
            definitions += controller.services.enumerated().map { index, service in
                placed(.networkService, service, path / "services" / index)
            }
        }
        return definitions
    }

    package func location(of definition: PlacedDefinition) -> String { place(of: definition.path) }

    /// Returns the class name of a definition as a message may show it.
    package func shownClassName(of definition: PlacedDefinition) -> String {
        shown(definition.className, at: definition.path / "className")
    }

    /// Returns the property of a service as a message may show it; `nil` for other roles.
    package func shownProperty(of definition: PlacedDefinition) -> String? {
        definition.address.property.map { shown($0, at: definition.path / "propertyName") }
    }
}

/// A lock entry: the class version to which a definition is pinned, and the plugin that registers that class.
///
/// The keys of the lock identify the definitions: `LibraryManager`, `LibraryManager/dataAccessController`,
/// `LibraryManager/communicationController`, and, for a service, the property that receives it:
/// `LibraryManager/communicationController/books`. A slash in a name is written `~1`, as in a JSON pointer.
public struct LockedClass: Codable, Sendable, Hashable {
    /// The id of the plugin.
    public var plugin: String
    /// The chosen version; choosing any other version is an error.
    public var version: Version

    /// Creates a lock entry.
    public init(plugin: String, version: Version) {
        (self.plugin, self.version) = (plugin, version)
    }
}

extension LockedClass: CustomStringConvertible {
    /// The entry as text for messages: "2.1.0 of plugin `org.example.books`".
    public var description: String { "\(version) of plugin `\(plugin)`" }
}

extension [String: LockedClass] {
    var value: ManifestValue {
        .dictionary(mapValues { ["plugin": .string($0.plugin), "version": .string($0.version.description)] })
    }
}

public import Backplane
import BackplaneDocuments

/// The definition of one component in a manifest: of a manager or of one of its collaborators.
package struct ComponentDefinition: Sendable, Hashable {
    package var role: Role
    /// The property of the communication controller that receives a service; `nil` for other roles.
    package var property: String?
    package var className: String
    /// The property and the class name as written in the manifest; the value of a variable may be a secret.
    package var writtenProperty: String?
    package var writtenClassName: String
    /// The accepted versions; `nil` accepts any.
    package var range: VersionRange?
    /// The location of the definition in the manifest or its environment.
    package var location: String
    /// The path of the definition in the manifest.
    var path = ManifestPath()
    /// The key of the definition in the manifest's lock.
    var lockKey = ""
    var configuration: [String: ManifestValue] = [:]
    /// The name of the component's private folder, if the manifest specifies one or it is a data access controller.
    var namespace: String?
    /// The former name of a manager, or the former namespace of a data access controller.
    var was: String?

    package init(role: Role, property: String? = nil, className: String, range: VersionRange?, location: String) {
        (self.role, self.property, self.className, self.range, self.location) = (
            role, property, className, range, location
        )
        (writtenProperty, writtenClassName) = (property, className)
    }

    /// The path of its configuration in the manifest.
    var configurationPath: ManifestPath {
        path / (role == .networkService ? "networkServiceConfiguration" : "configuration")
    }
}

extension ManifestDocument {
    /// Returns the definitions of a manager and its collaborators; empty if the manager could not be read.
    ///
    /// A communication controller comes before its services.
    func definitions(of manager: String) -> [ComponentDefinition] {
        guard let definition = manifest.managers[manager] else { return [] }
        let path = dialect.managers / manager, key = manager.pointerStep
        var itself = component(
            .manager, definition.className, definition.version, definition.configuration, at: path, lockKey: key)
        itself.was = definition.was
        var definitions = [itself]
        if let controller = definition.dataAccessController {
            let label = ReservedLabel.dataAccessController
            var component = component(
                .dataAccessController, controller.className, controller.version, controller.configuration,
                at: path / label, lockKey: "\(key)/\(label)")
            (component.namespace, component.was) = (controller.folderName, controller.was)
            definitions.append(component)
        }
        if let controller = definition.communicationController {
            let label = ReservedLabel.communicationController, path = path / label, key = "\(key)/\(label)"
            var component = component(
                .communicationController, controller.className, controller.version, controller.configuration,
                at: path, lockKey: key)
            component.namespace = controller.namespace
            definitions.append(component)
            for (index, service) in controller.services.enumerated() {
                let path = path / "services" / index
                var component = self.component(
                    .networkService, service.className, service.version, service.networkServiceConfiguration, at: path,
                    lockKey: "\(key)/\(service.propertyName.pointerStep)")
                (component.property, component.writtenProperty) = (
                    service.propertyName, shown(service.propertyName, at: path / "propertyName")
                )
                component.namespace = service.namespace
                definitions.append(component)
            }
        }
        return definitions
    }

    private func component(
        _ role: Role, _ className: String, _ range: VersionRange?, _ configuration: [String: ManifestValue],
        at path: ManifestPath, lockKey: String
    ) -> ComponentDefinition {
        var component = ComponentDefinition(role: role, className: className, range: range, location: place(of: path))
        component.writtenClassName = shown(className, at: path / "className")
        (component.path, component.lockKey, component.configuration) = (path, lockKey, configuration)
        return component
    }
}

/// The definition of a manager and its collaborators in a manifest.
public struct ManagerDefinition: Sendable, Hashable {
    /// The name of the manager's class, as registered by its plugin.
    public var className: String
    /// The accepted versions of the class; `nil` accepts any, as in all definitions.
    public var version: VersionRange?
    /// The managers that this one calls, keyed by the labels of its class.
    public var uses: [String: String]
    /// The configuration passed to the manager.
    public var configuration: [String: ManifestValue]
    /// The definition of the manager's data access controller, if it has one.
    public var dataAccessController: DataAccessControllerDefinition?
    /// The definition of the manager's communication controller, if it has one.
    public var communicationController: CommunicationControllerDefinition?
    /// The time at which the manager starts.
    public var activation: Activation
    /// The former name of the manager, whose state it continues; `nil` if it has not been renamed.
    public var was: String?

    /// Creates the entry of a manager, which is added to the manifest under the manager's name.
    public init(
        className: String, version: VersionRange? = nil, uses: [String: String] = [:],
        configuration: [String: ManifestValue] = [:],
        dataAccessController: DataAccessControllerDefinition? = nil,
        communicationController: CommunicationControllerDefinition? = nil,
        activation: Activation = .eager, was: String? = nil
    ) {
        (self.className, self.version, self.uses, self.configuration) = (className, version, uses, configuration)
        (self.dataAccessController, self.communicationController) = (dataAccessController, communicationController)
        (self.activation, self.was) = (activation, was)
    }
}

/// The definition of the component that stores a manager's data.
public struct DataAccessControllerDefinition: Sendable, Hashable {
    /// The name of the controller's class, as registered by its plugin.
    public var className: String
    /// The accepted versions of the class; `nil` accepts any.
    public var version: VersionRange?
    /// The configuration passed to the controller.
    public var configuration: [String: ManifestValue]
    /// The name of the controller's private folder; `nil` means the class name.
    public var namespace: String?
    /// The former namespace of the controller, whose folder and records it continues; `nil` if it had no other.
    public var was: String?

    /// Creates the definition of a data access controller, which is part of a manager's entry.
    public init(
        className: String, version: VersionRange? = nil, configuration: [String: ManifestValue] = [:],
        namespace: String? = nil, was: String? = nil
    ) {
        (self.className, self.version, self.configuration, self.namespace) = (
            className, version, configuration, namespace
        )
        self.was = was
    }

    /// The name of the controller's private folder.
    var folderName: String { namespace ?? className }
}

/// The definition of the component that communicates for a manager, through its own services.
public struct CommunicationControllerDefinition: Sendable, Hashable {
    /// The name of the controller's class, as its plugin registers it.
    public var className: String
    /// The accepted versions of the class; `nil` accepts any.
    public var version: VersionRange?
    /// The configuration passed to the controller.
    public var configuration: [String: ManifestValue]
    /// The definitions of the controller's services, in the order of their creation.
    public var services: [ServiceDefinition]
    /// The name of the controller's private folder; `nil` means one named after its manager.
    public var namespace: String?

    /// Creates the definition of a communication controller, which is part of a manager's entry.
    public init(
        className: String, version: VersionRange? = nil, configuration: [String: ManifestValue] = [:],
        services: [ServiceDefinition] = [], namespace: String? = nil
    ) {
        (self.className, self.version, self.configuration, self.services) = (
            className, version, configuration, services
        )
        self.namespace = namespace
    }
}

/// The definition of a network service, with the property of its communication controller that receives it.
public struct ServiceDefinition: Sendable, Hashable {
    /// The name of the service's class, as registered by its plugin.
    public var className: String
    /// The accepted versions of the class; `nil` accepts any.
    public var version: VersionRange?
    /// The property of the communication controller that receives the service.
    public var propertyName: String
    /// The configuration passed to the service; its keys are defined by the service.
    public var networkServiceConfiguration: [String: ManifestValue]
    /// The name of the service's private folder; `nil` means one named after its manager and its property.
    public var namespace: String?

    /// Creates the definition of a network service, which is part of a communication controller's entry.
    public init(
        className: String, version: VersionRange? = nil, propertyName: String,
        networkServiceConfiguration: [String: ManifestValue] = [:], namespace: String? = nil
    ) {
        (self.className, self.version, self.propertyName) = (className, version, propertyName)
        self.networkServiceConfiguration = networkServiceConfiguration
        self.namespace = namespace
    }
}

/// A lock entry: the class version to which a definition is pinned, and the plugin that registers that class.
///
/// The keys of the lock identify the definitions: `LibraryManager`, `LibraryManager/dataAccessController`,
/// `LibraryManager/communicationController`, and, for a service, the property that receives it:
/// `LibraryManager/communicationController/books`. A slash in a name is written `~1`, as in a JSON pointer.
public struct LockedClass: Sendable, Hashable {
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

extension LockedClass {
    var value: ManifestValue { ["plugin": .string(plugin), "version": .string(version.description)] }
}

extension [String: LockedClass] {
    var value: ManifestValue { .dictionary(mapValues(\.value)) }
}

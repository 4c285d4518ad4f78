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

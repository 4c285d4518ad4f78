/// A manager and its layers, as a manifest gives them.
public struct ManagerDefinition: Sendable, Hashable {
    public var className: String
    /// The versions of the class that are accepted; `nil`: any. So in all definitions.
    public var version: VersionRange?
    /// The managers it calls: the class's own label for each, and the manager's name.
    public var uses: [String: String]
    public var configuration: [String: ManifestValue]
    public var dataAccessController: DataAccessControllerDefinition?
    public var communicationController: CommunicationControllerDefinition?
    public var activation: Activation

    public init(
        className: String, version: VersionRange? = nil, uses: [String: String] = [:], configuration: [String: ManifestValue] = [:],
        dataAccessController: DataAccessControllerDefinition? = nil, communicationController: CommunicationControllerDefinition? = nil,
        activation: Activation = .eager
    ) {
        (self.className, self.version, self.uses, self.configuration) = (className, version, uses, configuration)
        (self.dataAccessController, self.communicationController) = (dataAccessController, communicationController)
        self.activation = activation
    }
}

/// The component that keeps a manager's data.
public struct DataAccessControllerDefinition: Sendable, Hashable {
    public var className: String
    public var version: VersionRange?
    public var configuration: [String: ManifestValue]
    /// The name of its private folder; `nil`: the class name.
    public var namespace: String?

    public init(className: String, version: VersionRange? = nil, configuration: [String: ManifestValue] = [:], namespace: String? = nil) {
        (self.className, self.version, self.configuration, self.namespace) = (className, version, configuration, namespace)
    }
}

/// The component that does a manager's communication, through services of its own.
public struct CommunicationControllerDefinition: Sendable, Hashable {
    public var className: String
    public var version: VersionRange?
    public var configuration: [String: ManifestValue]
    /// The services in the order they are created in.
    public var services: [ServiceDefinition]

    public init(className: String, version: VersionRange? = nil, configuration: [String: ManifestValue] = [:], services: [ServiceDefinition] = []) {
        (self.className, self.version, self.configuration, self.services) = (className, version, configuration, services)
    }
}

/// A network service, and the property of its communication controller that receives it.
public struct ServiceDefinition: Sendable, Hashable {
    public var className: String
    public var version: VersionRange?
    public var propertyName: String
    /// What the service is configured with; its keys are the service's own.
    public var networkServiceConfiguration: [String: ManifestValue]

    public init(className: String, version: VersionRange? = nil, propertyName: String, networkServiceConfiguration: [String: ManifestValue] = [:]) {
        (self.className, self.version, self.propertyName) = (className, version, propertyName)
        self.networkServiceConfiguration = networkServiceConfiguration
    }
}

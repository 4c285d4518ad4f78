package import Backplane
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

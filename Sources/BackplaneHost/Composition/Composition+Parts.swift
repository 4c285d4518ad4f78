package import Backplane
import BackplaneDocuments

extension Composition {
    /// A place in a manager's definition that a class fills.
    package struct Part: Sendable, Hashable {
        package var role: Role
        /// The property of the communication controller that it is for, if it is a service.
        package var property: String?
        package var className: String
        /// Both as the manifest has them: what comes from a variable may be a secret.
        package var writtenProperty: String?
        package var writtenClassName: String
        /// The versions that are accepted; `nil`: any.
        package var range: VersionRange?
        /// Where the manifest, or its environment, defines it.
        package var location: String

        package init(role: Role, property: String? = nil, className: String, range: VersionRange?, location: String) {
            (self.role, self.property, self.className, self.range, self.location) = (role, property, className, range, location)
            (writtenProperty, writtenClassName) = (property, className)
        }
    }

    /// What a manager's definition asks for: itself, its layers, its services; nothing if it could not be read.
    package func parts(of manager: String) -> [Part] {
        guard let definition = document.manifest.managers[manager] else { return [] }
        let path = document.dialect.managers / manager
        func part(_ role: Role, _ className: String, _ range: VersionRange?, property: String? = nil, at path: ManifestPath) -> Part {
            var part = Part(role: role, property: property, className: className, range: range, location: document.place(of: path))
            part.writtenProperty = property.map { document.shown($0, at: path / "propertyName") }
            part.writtenClassName = document.shown(className, at: path / "className")
            return part
        }
        var parts = [part(.manager, definition.className, definition.version, at: path)]
        if let controller = definition.dataAccessController {
            parts.append(part(.dataAccessController, controller.className, controller.version, at: path / ReservedLabel.dataAccessController))
        }
        if let controller = definition.communicationController {
            let path = path / ReservedLabel.communicationController
            parts.append(part(.communicationController, controller.className, controller.version, at: path))
            for (index, service) in controller.services.enumerated() {
                parts.append(part(.networkService, service.className, service.version, property: service.propertyName, at: path / "services" / index))
            }
        }
        return parts
    }

    /// The component that is taken for a part; `nil`: none fits.
    package func choice(for part: Part) -> Catalogue.Entry? {
        catalogue.best(part.className, as: part.role, in: part.range)
    }

    /// The node of the plan that a part of a manager is; `nil`: the manager is not sound.
    package func node(of part: Part, in manager: String) -> Plan.Node? {
        guard let id = plan.managers[manager] else { return nil }
        guard part.role != .manager else { return plan.nodes[id] }
        let layers = plan.layers(of: plan.nodes[id])
        guard let property = part.property else { return layers.first { $0.role == part.role } }
        let controller = layers.first { $0.role == .communicationController }
        return controller?.wires.first { $0.label == property }.map { plan.nodes[$0.provider] }
    }
}

extension Composition {
    /// Where the manifest defines a manager.
    package func location(of manager: String) -> String {
        document.place(of: document.dialect.managers / manager)
    }
}

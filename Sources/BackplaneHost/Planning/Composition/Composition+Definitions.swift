import Backplane
import BackplaneDocuments

extension Composition {
    /// Returns the definitions of a manager and its collaborators; empty if the manager could not be read.
    package func definitions(of manager: String) -> [ComponentDefinition] {
        document.definitions(of: manager)
    }

    /// Returns the component class chosen for a definition; `nil` if none matches.
    package func choice(for definition: ComponentDefinition) -> Catalogue.Entry? {
        catalogue.entry(for: definition)
    }

    /// Returns the plan's node for a definition of a manager; `nil` if the manager has errors.
    package func node(of definition: ComponentDefinition, in manager: String) -> Plan.Node? {
        guard let id = plan.managers[manager] else { return nil }
        guard definition.role != .manager else { return plan.nodes[id] }
        let layers = plan.layers(of: plan.nodes[id])
        guard let property = definition.property else { return layers.first { $0.role == definition.role } }
        let controller = layers.first { $0.role == .communicationController }
        return controller?.wires.first { $0.label == property }.map { plan.nodes[$0.provider] }
    }
}

extension Composition {
    /// Returns the location at which the manifest defines a manager.
    package func location(of manager: String) -> String {
        document.place(of: document.dialect.managers / manager)
    }
}

import Backplane
import BackplaneDocuments

extension Composition {
    /// The definitions of a manager, of its layers and its services; none if it could not be read.
    package func definitions(of manager: String) -> [ComponentDefinition] {
        document.definitions(of: manager)
    }

    /// The component that is taken for a definition; `nil`: none fits.
    package func choice(for definition: ComponentDefinition) -> Catalogue.Entry? {
        catalogue.best(definition.className, as: definition.role, in: definition.range)
    }

    /// The node of the plan that a definition of a manager's comes to; `nil`: the manager is not sound.
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
    /// Where the manifest defines a manager.
    package func location(of manager: String) -> String {
        document.place(of: document.dialect.managers / manager)
    }
}

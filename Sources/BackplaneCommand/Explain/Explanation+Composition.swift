import Backplane
import BackplaneHost

extension Explanation {
    /// Creates the explanation of a manager from a composition.
    ///
    /// - Throws: `manager.unknown`, with similar names as suggestions.
    init(of manager: String, in composition: Composition) throws(BackplaneError) {
        let isSound = composition.plan.managers[manager] != nil
        guard isSound || composition.plan.faults[manager] != nil else { throw composition.unknownManager(manager) }
        let definitions = composition.definitions(of: manager), uses = composition.uses(of: manager)
        let location = definitions.first?.location ?? composition.location(of: manager)
        let positions = composition.positions(of: definitions.map(\.location) + uses.map(\.location) + [location])
        var reasons = Reasons(composition)

        (self.manager, state) = (manager, isSound ? .resolved : .unsatisfied)
        place = ManifestPlace(location, positions[location])
        components = definitions.map {
            ExplainedComponent($0, of: manager, in: composition, at: ManifestPlace($0.location, positions[$0.location]))
        }
        self.uses = uses.map { use in
            Use(
                label: use.label, manager: use.written, state: composition.state(of: use.manager),
                place: ManifestPlace(use.location, positions[use.location]))
        }
        self.reasons = reasons.of(manager, .error)
        warnings = reasons.of(manager, .warning)
        manifest = isSound ? [] : reasons.ofManifest()
    }
}

extension Composition {
    fileprivate func state(of manager: String) -> Explanation.State? {
        plan.managers[manager] != nil ? .resolved : plan.faults[manager] != nil ? .unsatisfied : nil
    }
}

extension Explanation.ExplainedComponent {
    fileprivate init(
        _ definition: ComponentDefinition, of manager: String, in composition: Composition, at place: ManifestPlace
    ) {
        let choice = VersionChoice(definition, in: composition), node = composition.node(of: definition, in: manager)
        (role, property, className) = (
            definition.role.description, definition.writtenProperty, definition.writtenClassName
        )
        (range, version, plugin) = (
            definition.range?.description, choice.entry?.component.version.description, choice.entry?.plugin
        )
        (why, passedOver, self.place) = (choice.why, choice.passedOver, place)
        sharedWith = node?.managers.filter { $0 != manager } ?? []
        streams = choice.entry?.component.contract?.streams
        wires = node.map { composition.wires(of: $0.id).map(WireRow.init) } ?? []
        let connected = Set(wires.map(\.label))
        unconnected =
            node == nil ? [] : choice.entry?.component.wires.map(\.label).filter { !connected.contains($0) } ?? []
    }
}

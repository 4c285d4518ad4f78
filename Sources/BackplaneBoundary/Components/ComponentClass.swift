package import Backplane
import CBackplane

/// The host's view of a component class: the content of its descriptor, and the functions behind it.
package struct ComponentClass: Sendable {
    package let description: ComponentDescription
    let functions: Functions
    let origin: LaneOrigin
    /// A Boolean value that indicates whether the class shares slots with this host.
    package var sharesSlots: Bool { origin.sharesSlots }

    /// A Boolean value that indicates whether instances accept another configuration.
    package var isReconfigurable: Bool { functions.component.reconfigure != nil }

    /// Requests the texts of all layouts, which are otherwise read when they are needed.
    package func readLayouts() {
        for layout in [functions.layout, functions.stateLayout] + functions.wireLayouts { _ = layout.read() }
    }

    /// The functions and tables to which the descriptor points.
    struct Functions: Sendable {
        private let descriptor: ForeignTable<bp_component>
        private let stateDescriptor: ForeignTable<bp_state>?
        private let lanePointer: ConstantPointer<bp_component_lane>?
        private let stateLanePointer: ConstantPointer<bp_state_lane>?
        private let wireLanes: [ConstantPointer<bp_wire_lane>?]
        let layout: LayoutText
        let wireLayouts: [LayoutText]
        let stateLayout: LayoutText

        var component: bp_component { descriptor.table }
        var state: bp_state? { stateDescriptor?.table }
        var lane: bp_component_lane? { lanePointer?.pointer.pointee }
        var stateLane: bp_state_lane? { stateLanePointer?.pointer.pointee }

        init(
            _ component: bp_component, _ lane: ConstantPointer<bp_component_lane>?,
            _ wireLanes: [ConstantPointer<bp_wire_lane>?], sharesSlots: Bool
        ) {
            let state: bp_state? = component.state.map { read($0) }
            descriptor = ForeignTable(component)
            stateDescriptor = state.map { ForeignTable($0) }
            (lanePointer, self.wireLanes) = (lane, wireLanes)
            stateLanePointer = sharesSlots ? ConstantPointer(untyped: state?.lane) : nil
            layout = LayoutText(lane.map { ($0.pointer.pointee.layout, $0.pointer.pointee.type) })
            wireLayouts = wireLanes.map { lane in
                LayoutText(lane.map { ($0.pointer.pointee.layout, $0.pointer.pointee.type) })
            }
            stateLayout = LayoutText(stateLanePointer.map { ($0.pointer.pointee.layout, $0.pointer.pointee.type) })
        }

        func wireLane(_ index: Int) -> bp_wire_lane? { wireLanes[index]?.pointer.pointee }
    }
}

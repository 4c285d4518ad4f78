package import Backplane
import CBackplane

/// A component class as the host knows it: the content of its descriptor, and the functions behind it.
package struct ComponentClass: Sendable {
    package let description: ComponentDescription
    let functions: Functions
    let origin: LaneOrigin
    /// A Boolean value that indicates whether the class shares slots with this host.
    package var sharesSlots: Bool { origin.sharesSlots }

    /// A Boolean value that indicates whether instances take another configuration.
    package var isReconfigurable: Bool { functions.component.reconfigure != nil }

    /// The functions and tables that the descriptor points at.
    struct Functions: Sendable {
        private let descriptor: ForeignTable<bp_component>
        private let stateDescriptor: ForeignTable<bp_state>?
        private let lanePointer: ConstantPointer<bp_component_lane>?
        private let wireLanes: [ConstantPointer<bp_wire_lane>?]
        let layout: LayoutText
        let wireLayouts: [LayoutText]

        var component: bp_component { descriptor.table }
        var state: bp_state? { stateDescriptor?.table }
        var lane: bp_component_lane? { lanePointer?.pointer.pointee }

        init(
            _ component: bp_component, _ lane: ConstantPointer<bp_component_lane>?,
            _ wireLanes: [ConstantPointer<bp_wire_lane>?]
        ) {
            descriptor = ForeignTable(component)
            stateDescriptor = component.state.map { ForeignTable(read($0)) }
            (lanePointer, self.wireLanes) = (lane, wireLanes)
            layout = LayoutText(lane.map { ($0.pointer.pointee.layout, $0.pointer.pointee.type) })
            wireLayouts = wireLanes.map { lane in
                LayoutText(lane.map { ($0.pointer.pointee.layout, $0.pointer.pointee.type) })
            }
        }

        func wireLane(_ index: Int) -> bp_wire_lane? { wireLanes[index]?.pointer.pointee }
    }
}

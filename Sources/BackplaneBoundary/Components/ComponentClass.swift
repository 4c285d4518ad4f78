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

    /// The functions and tables that the descriptor points at.
    struct Functions: @unchecked Sendable {  // constant, and alive as long as the process
        let component: bp_component
        let state: bp_state?
        let lane: bp_component_lane?
        let wireLanes: [bp_wire_lane?]
        let layout: LayoutText
        let wireLayouts: [LayoutText]

        init(_ component: bp_component, _ lane: bp_component_lane?, _ wireLanes: [bp_wire_lane?]) {
            (self.component, self.lane, self.wireLanes) = (component, lane, wireLanes)
            state = component.state.map { read($0) }
            layout = LayoutText(lane.map { ($0.layout, $0.type) })
            wireLayouts = wireLanes.map { lane in LayoutText(lane.map { ($0.layout, $0.type) }) }
        }
    }
}

package import Backplane

/// An end of a transfer of state, with everything that determines its lane.
package struct StateSide: Sendable {
    /// The plugin to which the end belongs.
    package let origin: LaneOrigin
    package let state: StateDescription
    /// The layout of the state as the origin compiled it.
    package let layout: LayoutText

    package init(_ origin: LaneOrigin, _ state: StateDescription, _ layout: LayoutText) {
        (self.origin, self.state, self.layout) = (origin, state, layout)
    }
}

package import Backplane

/// One end of a wire, with everything that determines its lane.
package struct LaneSide: Sendable {
    /// The plugin or program to which the end belongs.
    package let origin: LaneOrigin
    package let contract: ContractDescription
    /// The layout of the contract as the origin compiled it.
    package let layout: LayoutText

    package init(_ origin: LaneOrigin, _ contract: ContractDescription, _ layout: LayoutText) {
        (self.origin, self.contract, self.layout) = (origin, contract, layout)
    }
}

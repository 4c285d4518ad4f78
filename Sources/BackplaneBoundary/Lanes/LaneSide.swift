package import Backplane

/// One end of a wire, as far as the lane between the two goes.
package struct LaneSide: Sendable {
    /// What brings it.
    package let origin: LaneOrigin
    package let contract: ContractDescription
    /// How it compiled the contract.
    package let layout: LayoutText

    package init(_ origin: LaneOrigin, _ contract: ContractDescription, _ layout: LayoutText) {
        (self.origin, self.contract, self.layout) = (origin, contract, layout)
    }
}

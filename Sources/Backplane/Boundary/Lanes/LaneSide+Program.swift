import CBackplane

extension LaneOrigin {
    /// The program that this copy of the SDK is in.
    package static var program: LaneOrigin {
        LaneOrigin(name: "the host program", toolchain: String(cString: bp_sdk_toolchain), revision: BP_LANE_REVISION)
    }
}

extension LaneSide {
    /// A contract as this program compiled it.
    package init<C: Contract>(program _: C.Type) {
        self.init(.program, ContractDescription(of: C.self), LayoutText { ContractLayout(of: C.self).text })
    }
}

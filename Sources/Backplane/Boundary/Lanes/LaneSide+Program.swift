import CBackplane

extension LaneOrigin {
    /// The program that this copy of the SDK is in.
    package static var program: LaneOrigin {
        LaneOrigin(name: "the host program", toolchain: SwiftCompiler.build, revision: BP_LANE_REVISION)
    }
}

extension LaneSide {
    /// A contract as this program compiled it.
    ///
    /// - Throws: `wire.mismatch` for one that is not a struct of methods alone.
    package init<C: Contract>(program _: C.Type) throws(BackplaneError) {
        self.init(.program, try ContractDescription(checking: C.self), LayoutText { ContractLayout(of: C.self).text })
    }
}

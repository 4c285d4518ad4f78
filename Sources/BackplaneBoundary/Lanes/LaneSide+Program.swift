package import Backplane

extension LaneSide {
    /// Creates the end of a wire in this program.
    ///
    /// - Throws: `wire.mismatch` for a contract that is not a struct containing only methods.
    package init<C: Contract>(program _: C.Type) throws(BackplaneError) {
        self.init(.program, try ContractDescription(checking: C.self), LayoutText { ContractLayout(of: C.self).text })
    }
}

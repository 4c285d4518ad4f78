package import Backplane

extension LaneSide {
    /// A contract as this program compiled it.
    ///
    /// - Throws: `wire.mismatch` for one that is not a struct of methods alone.
    package init<C: Contract>(program _: C.Type) throws(BackplaneError) {
        self.init(.program, try ContractDescription(checking: C.self), LayoutText { ContractLayout(of: C.self).text })
    }
}

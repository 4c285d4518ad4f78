package import Backplane

extension ContractDescription {
    /// Describes a contract as this program compiled it.
    package init<C: Contract>(of _: C.Type) {
        self = Members<C>().description
    }

    /// Checks a contract in the same way as a plugin's contracts at load time, and describes it.
    ///
    /// - Throws: `wire.mismatch` if the members cannot be numbered: a call would reach another method, or none.
    package init<C: Contract>(checking _: C.Type) throws(BackplaneError) {
        let members = Members<C>()
        guard members.problems.isEmpty else {
            throw BackplaneError(.wireMismatch, members.problems.joined(separator: "; "))
        }
        self = members.description
    }
}

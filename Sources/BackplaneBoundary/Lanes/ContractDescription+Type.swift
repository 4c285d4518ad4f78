package import Backplane

extension ContractDescription {
    /// A contract as this program compiled it.
    package init<C: Contract>(of _: C.Type) {
        self = Members<C>().description
    }

    /// The same of a contract that nobody has looked at before, as a plugin's are when it is loaded.
    ///
    /// - Throws: `wire.mismatch` for one whose members cannot be numbered: a call would reach another method, or none.
    package init<C: Contract>(checking _: C.Type) throws(BackplaneError) {
        let members = Members<C>()
        guard members.problems.isEmpty else { throw BackplaneError(.wireMismatch, members.problems.joined(separator: "; ")) }
        self = members.description
    }
}

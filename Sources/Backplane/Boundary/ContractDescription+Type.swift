extension ContractDescription {
    /// A contract as this program compiled it.
    package init<C: Contract>(of _: C.Type) {
        self = Members<C>().description
    }
}

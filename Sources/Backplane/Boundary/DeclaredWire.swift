/// A wire that a component declares, with the data from which its lane is chosen and created.
struct DeclaredWire: Sendable {
    var description: WireDescription
    var problems: [String]
    var values: ContractValues
    /// The function that creates the cells of the encoded lane.
    var makeCells: @Sendable (EncodedTarget) -> Cells

    init(label: String, isOptional: Bool, _ contract: ContractRecords.ContractRecord) {
        description = WireDescription(label: label, isOptional: isOptional, contract: contract.description)
        (problems, values) = (contract.problems, contract.values)
        makeCells = { target in Cells(of: contract.members, calling: target) }
    }
}

extension DeclaredWire {
    /// Creates a slot with a permanent binding that calls through the host, for a host of another lane revision.
    ///
    /// Returns `nil` if the host does not offer calls.
    func ownSlot(component: UInt64, wire: UInt64, _ services: HostServices) -> Slot? {
        let methods = description.contract.methods
        guard let target = EncodedTarget(through: services, component: component, wire: wire, methods: methods) else {
            return nil
        }
        // The host itself appends the component to the path.
        let slot = Slot(number: 0, gatekeeper: NoEntry(to: description.contract.name), methods: methods)
        slot.flip(to: Binding(makeCells(target), counting: .atomic))
        return slot
    }
}

/// One wire that a component asks for, and what its lane is decided by and made of.
struct DeclaredWire: Sendable {
    var description: WireDescription
    var problems: [String]
    /// How this side compiled the contract (``ContractLayout``).
    var layout: KeptText
    /// Makes the cells of the encoded lane.
    var makeCells: @Sendable (EncodedTarget) -> Cells

    init(label: String, isOptional: Bool, _ contract: ContractRecords.Record) {
        description = WireDescription(label: label, isOptional: isOptional, contract: contract.description)
        (problems, layout) = (contract.problems, contract.layout)
        makeCells = { target in Cells(of: contract.members, calling: target) }
    }
}

extension DeclaredWire {
    /// A slot with one binding for good, whose cells call through the host: for one that speaks another lane revision.
    func ownSlot(component: UInt64, wire: UInt64, _ services: HostServices) -> Slot? {
        let methods = description.contract.methods
        guard let target = EncodedTarget(through: services, component: component, wire: wire, methods: methods) else { return nil }
        // The host appends the component to the path itself.
        let slot = Slot(number: 0, gatekeeper: NoEntry())
        slot.flip(to: Binding(makeCells(target), counting: .atomic))
        return slot
    }
}

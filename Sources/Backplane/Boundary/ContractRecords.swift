import CBackplane
import Synchronization

/// The records of the contracts that a plugin names.
///
/// Each is created once, even if several wires name it.
final class ContractRecords: Sendable {
    /// The record of one contract.
    struct ContractRecord: Sendable {
        let members: [(name: String, type: any EncodedMember.Type)]
        let description: ContractDescription
        let problems: [String]
        let values: ContractValues
    }
    // Arrays: there are few, and a dictionary would make the runtime search every loaded image for `Hashable`.
    private let records = Mutex<[(contract: ObjectIdentifier, record: ContractRecord)]>([])
    private let needed = Mutex<[(contract: ObjectIdentifier, wire: NeededWire)]>([])

    func record<C: Contract>(of _: C.Type) -> ContractRecord {
        if let known = records.withLock({ $0.first { $0.contract == ObjectIdentifier(C.self) } }) {
            return known.record
        }
        let members = Members<C>()
        let record = ContractRecord(
            members: members.all, description: members.description, problems: members.problems,
            values: ContractValues(of: C.self, members.all))
        records.withLock { $0.append((ObjectIdentifier(C.self), record)) }
        return record
    }

    /// Returns the wire that a lookup by a contract passes to the host.
    func neededWire<C: Contract>(_: C.Type) -> NeededWire {
        let wire = DeclaredWire(label: "", isOptional: false, record(of: C.self))
        return needed.withLock { needed in
            if let known = needed.first(where: { $0.contract == ObjectIdentifier(C.self) }) { return known.wire }
            let new = NeededWire(wire)
            needed.append((ObjectIdentifier(C.self), new))
            return new
        }
    }
}

/// The values that a contract's methods carry, as this side compiled them.
struct ContractValues: Sendable {
    /// The layout of the contract (``ContractLayout``).
    let layout: KeptText
    let members: [(name: String, type: any EncodedMember.Type)]

    /// The values of a contract that is known only at run time.
    static var undescribed: ContractValues { ContractValues(layout: KeptText { "" }, members: []) }

    private init(layout: KeptText, members: [(name: String, type: any EncodedMember.Type)]) {
        (self.layout, self.members) = (layout, members)
    }

    init<C: Contract>(of _: C.Type, _ members: [(name: String, type: any EncodedMember.Type)]) {
        self.init(layout: KeptText { ContractLayout(of: C.self).text }, members: members)
    }
}

/// A wire that no component declares, and its descriptor, which lives as long as the process.
struct NeededWire: Sendable {
    let wire: DeclaredWire
    let descriptor: ConstantPointer<bp_wire>

    init(_ wire: DeclaredWire) {
        self.wire = wire
        descriptor = ConstantPointer(forever([bp_wire(wire)])!)
    }
}

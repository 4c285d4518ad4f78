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
        /// The layout of the contract as this side compiled it (``ContractLayout``).
        let layout: KeptText
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
            layout: KeptText { ContractLayout(of: C.self).text })
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

/// A wire that no component declares, and its descriptor, which lives as long as the process.
struct NeededWire: Sendable {
    let wire: DeclaredWire
    let descriptor: ConstantPointer<bp_wire>

    init(_ wire: DeclaredWire) {
        self.wire = wire
        descriptor = ConstantPointer(forever([bp_wire(wire)])!)
    }
}

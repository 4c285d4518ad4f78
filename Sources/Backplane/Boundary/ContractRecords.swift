import Synchronization

/// What a plugin knows of the contracts it names, found out once however many wires name the same.
final class ContractRecords: Sendable {
    /// One contract.
    struct Record: Sendable {
        let members: [(name: String, type: any EncodedMember.Type)]
        let description: ContractDescription
        let problems: [String]
        /// How this side compiled it (``ContractLayout``).
        let layout: KeptText
    }
    private let records = Mutex<[ObjectIdentifier: Record]>([:])

    func record<C: Contract>(of _: C.Type) -> Record {
        if let known = records.withLock({ $0[ObjectIdentifier(C.self)] }) { return known }
        let members = Members<C>()
        let record = Record(
            members: members.all, description: members.description, problems: members.problems,
            layout: KeptText { ContractLayout(of: C.self).text })
        records.withLock { $0[ObjectIdentifier(C.self)] = record }
        return record
    }
}

/// The members of a contract in declaration order, read once from one of its values.
package struct Members<C: Contract>: Sendable {
    let all: [(name: String, type: any EncodedMember.Type)]
    /// The violations of the rules for contracts; empty for a valid contract.
    package let problems: [String]

    package init() {
        var all: [(name: String, type: any EncodedMember.Type)] = []
        var problems: [String] = []
        for property in StoredProperty.all(of: C()) {
            guard let member = property.member else {
                problems.append(
                    "\(C.name).\(property.label) is not an AsyncMethod, a SyncMethod or a StreamMethod; a contract has no other stored properties"
                )
                continue
            }
            let name = member.name ?? property.label
            if all.contains(where: { $0.name == name }) {
                problems.append("\(C.name) has two members named `\(name)`; give one of them another name")
            }
            all.append((name, member.type))
        }
        // Member numbers rely on this: a number is the property's offset divided by the size that all members share.
        if problems.isEmpty, MemoryLayout<C>.size != all.count * MemoryLayout<AsyncMethod<Nothing, Nothing>>.stride {
            problems.append("\(C.name) must be a struct that contains only methods")
        }
        (self.all, self.problems) = (all, problems)
    }

    package var description: ContractDescription {
        ContractDescription(
            name: C.name, version: C.version,
            methods: all.map { MethodDescription(name: $0.name, kind: $0.type.kind) })
    }
}

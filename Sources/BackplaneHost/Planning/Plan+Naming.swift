import Backplane

extension Plan.Node {
    /// The name in messages: a manager's name in the manifest, or the class name of any other component.
    var name: String {
        role == .manager ? managers[0] : entry.component.className
    }
}

extension Plan.Node {
    /// Checks that the node provides a contract.
    ///
    /// - Throws: `wire.mismatch`.
    func requireService(of needed: ContractDescription) throws(BackplaneError) {
        guard let difference = entry.component.contract.difference(from: needed) else { return }
        throw mismatch(with: needed, difference)
    }

    func mismatch(with needed: ContractDescription, _ difference: String) -> BackplaneError {
        BackplaneError(
            .wireMismatch, "`\(needed.name)` \(needed.version) was requested of \(name), but \(entry) \(difference)",
            at: location)
    }
}
